
# In the value of --window, NAME=FROM..TO: the kernel's functions, if the cache has them.
_pathmeter_points() {
    local line=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]}
    local value=${line##*[[:space:]]} before=${line%[[:space:]]*} part word kernel= name
    case $value in
        --window=*) value=${value#--window=} ;;
        *) [[ $before =~ [[:space:]]--window[[:space:]]*$ ]] || return 1 ;;
    esac
    [[ $value == *=* && $value != *,* ]] || return 1
    part=${value##*[=@]}
    part=${part##*..}
    [[ $cur == *"$part" && ${#part} -ge 2 ]] || return 1
    for word in ${before#*[[:space:]]*[[:space:]]}; do
        word=${word/#\~\//"$HOME"/}
        [[ $word == lab || $word == lab:* || -e $word ]] && kernel=$word && break
    done
    [[ -n $kernel ]] || return 1
    COMPREPLY=()
    while read -r name; do
        COMPREPLY+=("${cur%"$part"}$name")
    done < <("${COMP_WORDS[0]}" list functions --cached --quiet -- "$kernel" "$part*" 2>/dev/null)
    compopt -o nospace 2>/dev/null
    return 0
}

_pathmeter_or_points() {
    _pathmeter_points || _pathmeter "$@"
}

complete -F _pathmeter_or_points -o nosort -o bashdefault -o default pathmeter
