/** A block of commands of the cookbook, with what is said about it. */
export interface Recipe {
  /** The commands. */
  readonly commands: string;
  /** Exit code that the last command must end with. */
  readonly exit: number;
  /** Lines that must come, in this order; other lines may come between. */
  readonly expected: readonly string[];
}

/**
 * Reads the fenced `sh` blocks of a page; `exit=<code>` after `sh` says that the block fails so. A `text` block belongs
 * to the commands before it.
 * @throws Error for a `text` block without commands before it
 */
export function readCookbook(page: string): readonly Recipe[] {
  const recipes: Recipe[] = [];
  for (const [, info = "", content = ""] of page.matchAll(/^```(\S.*)\n([\s\S]*?)^```$/gm)) {
    const [language, ...settings] = info.split(" ");
    if (language === "sh") {
      const exit = settings.find((setting) => setting.startsWith("exit="))?.slice("exit=".length) ?? "0";
      recipes.push({ commands: content, exit: Number(exit), expected: [] });
    } else if (language === "text") {
      const last = recipes.pop();
      if (last === undefined) throw new Error(`nothing was run before:\n${content}`);
      const lines = content.split("\n").map((line) => line.trim());
      recipes.push({ ...last, expected: [...last.expected, ...lines.filter((line) => line !== "" && line !== "...")] });
    }
  }
  return recipes;
}
