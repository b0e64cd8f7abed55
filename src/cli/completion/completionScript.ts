import type { CommandNode } from "./commandTree.js";

/** The shells that completion is written for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number];

/** A script that makes a shell complete commands, options and known values. It holds everything: nothing is started to complete. */
export function completionScript(shell: Shell, tree: readonly CommandNode[]): string {
  switch (shell) {
    case "bash":
      return bash(tree);
    case "zsh":
      return zsh(tree);
    case "fish":
      return fish(tree);
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const wordsOf = ({ children, options }: CommandNode): string =>
  [...children.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(" ");

/** Cases of a shell's `case` that find the command in the words typed so far. */
const steps = (tree: readonly CommandNode[]): string =>
  tree
    .filter(({ path }) => path !== "")
    .map(({ path }) => `      ${quote(path)}) at=${quote(path)} ;;`)
    .join("\n");

/** Flags that are followed by a value, which is no command. */
const valueFlags = (tree: readonly CommandNode[]): string =>
  [...new Set(tree.flatMap(({ options }) => options.filter((one) => one.takesValue).map(({ flag }) => flag)))].join(
    "|",
  );

const choiceCases = (tree: readonly CommandNode[]): string =>
  tree
    .flatMap(({ path, options }) =>
      options
        .filter(({ choices }) => choices.length > 0)
        .map(({ flag, choices }) => `    ${quote(`${path} ${flag}`)}) words=${quote(choices.join(" "))} ;;`),
    )
    .join("\n");

function bash(tree: readonly CommandNode[]): string {
  return `# talaria completion for bash; load it with: source <(talaria completion bash)
_talaria() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at='' words='' i skip=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "\${COMP_WORDS[i]}" in ${valueFlags(tree)}) skip=1; continue ;; esac
    case "\${at:+$at }\${COMP_WORDS[i]}" in
${steps(tree)}
    esac
  done
  case "$at" in
${tree.map((node) => `    ${quote(node.path)}) words=${quote(wordsOf(node))} ;;`).join("\n")}
  esac
  case "$previous" in ${valueFlags(tree)}) words='' ;; esac
  case "$at $previous" in
${choiceCases(tree)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _talaria talaria
`;
}

function zsh(tree: readonly CommandNode[]): string {
  const described = ({ children, options }: CommandNode): string =>
    [
      ...children.map(({ name, description }) => `${name}:${description}`),
      ...options.map(({ flag, description }) => `${flag}:${description}`),
    ]
      .map(quote)
      .join(" ");
  return `#compdef talaria
# talaria completion for zsh; load it with: source <(talaria completion zsh)
_talaria() {
  local at='' word skip='' previous=\${words[CURRENT-1]}
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in ${valueFlags(tree)}) skip=1; continue ;; esac
    case "\${at:+$at }$word" in
${steps(tree)}
    esac
  done
  case "$at" in
${tree.map((node) => `    ${quote(node.path)}) found=(${described(node)}) ;;`).join("\n")}
  esac
  case "$at $previous" in
${choiceCases(tree).replaceAll(/words='([^']*)'/g, "compadd -- $1; return")}
  esac
  case "$previous" in ${valueFlags(tree)}) _files; return ;; esac
  _describe -t commands talaria found || _files
}
compdef _talaria talaria
`;
}

function fish(tree: readonly CommandNode[]): string {
  const lines = tree.flatMap(({ path, children, options }) => {
    const here = `-n ${quote(`__talaria_at ${quote(path)}`)}`;
    return [
      ...children.map(
        ({ name, description }) => `complete -c talaria -f ${here} -a ${quote(name)} -d ${quote(description)}`,
      ),
      ...options.map(({ flag, description, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quote(choices.join(" "))}` : takesValue ? " -r" : "";
        return `complete -c talaria ${here} -l ${flag.replace(/^--/, "")}${value} -d ${quote(description)}`;
      }),
    ];
  });
  return `# talaria completion for fish; load it with: talaria completion fish | source
function __talaria_at
  set -l at ''
  set -l skip ''
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch $word
      case ${valueFlags(tree).replaceAll("|", " ")}
        set skip 1
        continue
    end
    switch (string trim "$at $word")
${tree
  .filter(({ path }) => path !== "")
  .map(({ path }) => `      case ${quote(path)}\n        set at ${quote(path)}`)
  .join("\n")}
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}
