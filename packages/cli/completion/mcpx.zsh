#compdef mcpx
# zsh completion for mcpx, printed by `mcpx completion zsh`. compadd takes words as they are, and quotes what it puts
# on the command line.

_mcpx() {
  emulate -L zsh
  local -a lines found shown
  local line word about
  lines=("${(@f)$(command mcpx __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  case $lines[1] in
    files) _files ;;
    directories) _files -/ ;;
    commands) _command_names -e ;;
    words)
      for line in "${(@)lines[2,-1]}"; do
        word=${line%%$'\t'*}
        about=${line#*$'\t'}
        found+=("$word")
        shown+=("$word${about:+  -- $about}")
      done
      compadd -l -d shown -a -- found
      ;;
    *) return 1 ;;
  esac
}

# In a directory of fpath it is the function's own file; read by source it is not.
if [[ $funcstack[1] == _mcpx ]]; then
  _mcpx "$@"
else
  compdef _mcpx mcpx
fi
