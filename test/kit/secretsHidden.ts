import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

/** Every file below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Expects that no secret stands in any place, in whatever form it might have been written.
 * @param secrets by what they are called
 * @param places what each is called, and what it holds
 */
export function expectHidden(
  secrets: Readonly<Record<string, Buffer>>,
  places: readonly (readonly [string, Buffer])[],
): void {
  for (const [place, content] of places) {
    for (const [name, secret] of Object.entries(secrets)) {
      const found = formsOf(secret).some((form) => content.includes(form));
      expect(found, `${name} in ${place}`).toBe(false);
    }
  }
}

function formsOf(secret: Buffer): readonly Buffer[] {
  const texts = (["base64", "base64url", "hex"] as const).map((form) => secret.toString(form));
  return [secret, ...texts.map((text) => Buffer.from(text))];
}
