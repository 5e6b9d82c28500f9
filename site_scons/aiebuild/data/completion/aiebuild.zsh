#compdef scons aiebuild
# Completion of scons and aiebuild in projects of aiebuild, for zsh: source <(aiebuild completion zsh)

_aiebuild() {
    local line value about
    local -a open open_about closed closed_about
    integer files=0
    for line in "${(@f)$(command aiebuild --complete "$words[1]" "$PREFIX" "${(@)words[2,CURRENT-1]}" 2> /dev/null)}"; do
        [[ -n $line ]] || continue
        value="${line%%$'\t'*}"
        about="$value  ${line#*$'\t'}"
        if [[ $value == :files ]]; then
            files=1
        elif [[ $value == *= ]]; then
            open+=("$value")
            open_about+=("$about")
        else
            closed+=("$value")
            closed_about+=("$about")
        fi
    done
    if (( files || ! ($#open + $#closed) )); then
        compset -P '*='
        _files
        return
    fi
    (( $#open )) && compadd -l -S '' -d open_about -a open
    (( $#closed )) && compadd -l -d closed_about -a closed
    return 0
}

if [[ "$funcstack[1]" == _aiebuild ]]; then
    _aiebuild "$@"
else
    compdef _aiebuild scons aiebuild
fi
