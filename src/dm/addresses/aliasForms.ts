/** Words that never stand for one agent's friendly name. */
const RESERVED: ReadonlySet<string> = new Set(["all", "everyone", "user", "default", "main"]);
const FORM = /^[a-z0-9][a-z0-9_-]*$/;

/**
 * The words that a friendly name answers to: its slug (runs of other characters become one `-`) and its collapsed form
 * (other characters left out). A name without ASCII letters and digits has none.
 */
export function aliasForms(title: string): readonly string[] {
  const lower = title.toLowerCase();
  const slug = lower.replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  const collapsed = lower.replace(/[^a-z0-9_-]+/g, "");
  return [...new Set([slug, collapsed])].filter((form) => FORM.test(form) && !RESERVED.has(form));
}

/** Those whose friendly name answers to a word. */
export function bearersOf<Named extends { readonly title: string }>(
  word: string,
  all: readonly Named[],
): readonly Named[] {
  const wanted = new Set(aliasForms(word));
  return all.filter(({ title }) => aliasForms(title).some((form) => wanted.has(form)));
}
