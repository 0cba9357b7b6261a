# SPDX-License-Identifier: Apache-2.0
# paddock.fish - completion; paddock itself knows its commands, flags and runs.
function __paddock_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for line in (paddock complete -- $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case @files
                __fish_complete_path "$last"
            case @dirs
                __fish_complete_directories "$last"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c paddock -f -a '(__paddock_complete)'
