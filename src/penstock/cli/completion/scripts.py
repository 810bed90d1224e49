"""What each shell has to run once, so that it asks us from then on."""

from enum import StrEnum


class Shell(StrEnum):
    """Shells that can be taught."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_BASH = r"""# bash completion for penstock; for example: penstock completion bash > ~/.bash_completion
_penstock() {
    # COMP_WORDS are parted at colons too, which addresses have: part the line itself.
    local line typed="${COMP_LINE:0:COMP_POINT}"
    local -a words
    read -ra words <<< "$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == ":files" ]]; then
            compopt -o default
            COMPREPLY=()
            return
        fi
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _penstock penstock
"""

_ZSH = r"""#compdef penstock
# zsh completion for penstock; for example: penstock completion zsh > ~/.zfunc/_penstock
_penstock() {
    local line
    local -a candidates
    while IFS= read -r line; do
        if [[ $line == ":files" ]]; then
            _files
            return
        fi
        candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe penstock candidates
}
compdef _penstock penstock
"""

_FISH = r"""# fish completion for penstock; it belongs into ~/.config/fish/completions/penstock.fish
function __penstock_complete
    set -l typed (commandline -opc)
    set -l last (commandline -ct)
    for line in ($typed[1] __complete $typed[2..-1] "$last" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$last"
        else
            echo $line
        end
    end
end
complete -c penstock -f -a "(__penstock_complete)"
"""

SCRIPTS = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}
