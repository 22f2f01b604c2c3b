# bash completion for mcpx, printed by `mcpx completion bash`. Names of strangers are never expanded: no eval, no
# compgen -W, and what is put on the command line is quoted. Bash 3.2, which some systems still have, can run it.

_mcpx() {
  COMPREPLY=()
  # Bash cuts words at characters such as : and =; what has no space in between is put together again.
  local rest=${COMP_LINE:0:COMP_POINT} index count=0 gap piece
  local -a words=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    gap=${rest%%[!$' \t\n']*}
    rest=${rest:${#gap}}
    piece=${COMP_WORDS[index]}
    if ((index == COMP_CWORD)); then piece=$rest; fi
    rest=${rest:${#piece}}
    if ((index == 0)) || [[ -n $gap ]]; then
      words[count]=$piece
      ((count += 1))
    else
      words[count - 1]+=$piece
    fi
  done
  local typed=${words[count - 1]} quote='' kept='' plain
  words=("${words[@]//[\\\"\']/}")
  plain=${words[count - 1]}
  case $typed in
    [\"\']*) quote=${typed:0:1} ;;
    *\\*) ;;
    *[:=@]*) kept=${typed%"${typed##*[:=@]}"} ;;
  esac

  local line duty='' word quoted
  while IFS= read -r line; do
    if [[ -z $duty ]]; then
      duty=$line
      continue
    fi
    word=${line%%$'\t'*}
    printf -v quoted '%q' "$word"
    if [[ -n $quote ]]; then
      # Inside quotes only what means the same with and without them.
      [[ $quoted == "$word" ]] && COMPREPLY+=("$word")
    elif [[ $quoted == "$typed"* ]]; then
      [[ $COMP_WORDBREAKS == *[:=@]* ]] || kept=''
      COMPREPLY+=("${quoted#"$kept"}")
    fi
  done < <(command mcpx __complete -- "${words[@]:1}" 2>/dev/null)

  case $duty in
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
    commands)
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$plain")
      ;;
  esac
}

complete -F _mcpx mcpx
