import { replaceBroken } from "./brokenText.js";

/** What a secret is replaced by. */
export const REDACTED = "[redacted]";

/** A shorter text is no secret worth the name, and hiding it would blank ordinary words. */
const SHORTEST_SECRET = 6;

/** The exact secrets of this process, so that no log line can hold one. */
export class SecretRegistry {
  readonly #counts = new Map<string, number>();
  /** Longest first; undefined until a text is looked at, since a launch adds many at once. */
  #forms: readonly string[] | undefined;

  /**
   * Hides `secret` from the next line on. The same secret may be added by several owners.
   * @returns a function that removes it again; texts of fewer than 6 characters are left alone.
   */
  add(secret: string): () => void {
    if (secret.length < SHORTEST_SECRET) return () => undefined;
    this.#change(secret, 1);
    let held = true;
    return () => {
      if (held) this.#change(secret, -1);
      held = false;
    };
  }

  /** Takes back one {@link add} of `secret`. */
  remove(secret: string): void {
    if (this.#counts.has(secret)) this.#change(secret, -1);
  }

  /**
   * `text` with every registered secret replaced, longest first, also where it was escaped as JSON, or is broken by lines, escape sequences
   * or characters that nobody sees.
   */
  hide(text: string): string {
    if (this.#counts.size === 0) return text;
    this.#forms ??= formsOf(this.#counts.keys());
    let hidden = text;
    for (const form of this.#forms) if (hidden.includes(form)) hidden = hidden.replaceAll(form, REDACTED);
    return replaceBroken(hidden, this.#forms, REDACTED);
  }

  #change(secret: string, by: number): void {
    const count = (this.#counts.get(secret) ?? 0) + by;
    if (count > 0) this.#counts.set(secret, count);
    else this.#counts.delete(secret);
    this.#forms = undefined;
  }
}

/** Secrets as they may stand in a text: as they are, and as JSON escapes them. */
function formsOf(secrets: Iterable<string>): readonly string[] {
  const forms = new Set([...secrets].flatMap((one) => [one, JSON.stringify(one).slice(1, -1)]));
  return [...forms].sort((a, b) => b.length - a.length);
}
