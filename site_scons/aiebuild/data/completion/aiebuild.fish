# Completion of scons and aiebuild in projects of aiebuild, for fish: aiebuild completion fish | source

function __aiebuild
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l name $words[1]
    set -e words[1]
    for found in (command aiebuild --complete "$name" "$current" $words 2> /dev/null)
        if string match -q ':files*' -- $found
            set -l own (string match -r '^[^=]*=' -- $current)
            for path in (__fish_complete_path (string replace -r '^[^=]*=' '' -- $current))
                echo "$own$path"
            end
        else
            echo $found
        end
    end
end

for name in scons aiebuild
    complete -c $name -f -a '(__aiebuild)'
end
