# fish completion for mcpx, printed by `mcpx completion fish`. Fish takes the lines of a command as words, and quotes
# what it puts on the command line.

function __mcpx_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct | string replace -ra '[\\\\\'"]' '')
    test (count $current) -eq 0; and set current ''
    set -l lines (command mcpx __complete -- $words $current 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path $current
        case directories
            __fish_complete_directories $current
        case commands
            complete -C $current
        case words
            set -e lines[1]
            string join \n -- $lines
    end
end

complete -c mcpx -f -k -a '(__mcpx_complete)'
