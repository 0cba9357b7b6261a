# SPDX-License-Identifier: Apache-2.0
# paddock.fish - completion; paddock itself knows its commands, flags and runs.
function __paddock_complete
    set -l words (commandline -opc)
    set -l last (string replace -ar '["\'\\\\]' '' -- (commandline -ct))
    set -l paddock paddock
    string match -q '*/*' -- $words[1]; and set paddock (string replace -r '^~/' "$HOME/" -- $words[1])
    # Of "--input=FILE" the file is what is looked for.
    set -l flag (string match -r '^--[a-z-]+=' -- $last)
    set -l path (string replace -r '^--[a-z-]+=' '' -- $last)
    for line in ($paddock complete -- $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case @files
                string join \n -- "$flag"(__fish_complete_path "$path")
            case @dirs
                string join \n -- "$flag"(__fish_complete_directories "$path")
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c paddock -f -k -a '(__paddock_complete)'
