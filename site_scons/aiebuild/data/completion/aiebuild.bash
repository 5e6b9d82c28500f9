# Completion of scons and aiebuild in projects of aiebuild, for bash: source <(aiebuild completion bash)

_aiebuild() {
    local line="${COMP_LINE:0:COMP_POINT}" current found value start="" own=""
    local -a words
    current="${line##*[[:space:]]}"
    read -ra words <<< "${line%"$current"}"
    COMPREPLY=()
    # Where bash breaks words at `=`, a reply is only what follows it.
    [[ $COMP_WORDBREAKS == *=* && $current == *=* ]] && start="${current%"${current##*=}"}"
    while IFS= read -r found; do
        value="${found%%$'\t'*}"
        if [[ $value == :files ]]; then
            compopt -o filenames 2> /dev/null
            [[ $current == *=* ]] && own="${current%"${current##*=}"}"
            while IFS= read -r value; do
                COMPREPLY+=("${own#"$start"}$value")
            done < <(compgen -f -- "${current#"$own"}")
        else
            [[ $value == *= ]] && compopt -o nospace 2> /dev/null
            COMPREPLY+=("${value#"$start"}")
        fi
    done < <(command aiebuild --complete "$1" "$current" "${words[@]:1}" 2> /dev/null)
}

complete -o default -F _aiebuild scons aiebuild
