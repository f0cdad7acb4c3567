/** The scripts ask the command itself for completions, so a new version does not need new scripts. */
export const completionScripts: Readonly<Record<string, string>> = {
  bash: `_agentpay() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}") line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <("\${COMP_WORDS[0]}" complete --pieces -- "\${words[@]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _agentpay agentpay
`,
  zsh: `#compdef agentpay
_agentpay() {
  local -a found
  local word about
  while IFS=$'\\t' read -r word about; do
    found+=("\${word//:/\\\\:}\${about:+:$about}")
  done < <("\${words[1]}" complete --about -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe agentpay found; else _files; fi
}
if [ "$funcstack[1]" = _agentpay ]; then _agentpay "$@"; else compdef _agentpay agentpay; fi
`,
  fish: `function __agentpay_complete
  set -l words (commandline -opc)
  set -l last (commandline -ct)
  $words[1] complete --about -- $words[2..-1] "$last" 2>/dev/null
end
complete -c agentpay -f -a '(__agentpay_complete)'
complete -c agentpay -n 'not __agentpay_complete | string length -q' -F
`,
}
