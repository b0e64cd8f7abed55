import { cutToCodePoints } from "./codePoints.js";
import { LIMITS } from "./limits.js";

/** Arguments as they may be shown to viewers. */
export interface ShownArguments {
  /** Redacted JSON values. */
  readonly arguments: Record<string, unknown>;
  /** Whether something was cut. */
  readonly truncated: boolean;
}

/** A tool's result as it may be shown to viewers. */
export interface ShownResult {
  /** Redacted text. */
  readonly result: string;
  /** Whether something was cut. */
  readonly truncated: boolean;
}

/** Deepest nesting that is shown; protobuf readers stop at 100. */
const DEEPEST = 24;

/** Redacts a call's arguments and reduces what is over 64 KiB of JSON to the bounds of ToolStarted. */
export function showArguments(
  given: Readonly<Record<string, unknown>>,
  redact: (text: string) => string,
): ShownArguments {
  const shown = clean(given, redact, 0) as Record<string, unknown>;
  if (Buffer.byteLength(JSON.stringify(shown), "utf8") <= LIMITS.toolArgumentsBytes) {
    return { arguments: shown, truncated: false };
  }
  const reduced: Record<string, unknown> = {};
  let left: number = LIMITS.toolArgumentsReducedBytes;
  for (const [key, value] of Object.entries(shown).slice(0, LIMITS.toolArgumentKeys)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const cut = cutToBytes(cutToCodePoints(text, LIMITS.toolArgumentValueCodePoints), left);
    left -= Buffer.byteLength(cut, "utf8");
    reduced[cutToCodePoints(key, LIMITS.toolArgumentKeyCodePoints)] = cut;
  }
  return { arguments: reduced, truncated: true };
}

/** Redacts a tool's result and keeps the first 32 KiB of one over 64 KiB. */
export function showResult(text: string, redact: (text: string) => string): ShownResult {
  const clean = redact(text);
  if (Buffer.byteLength(clean, "utf8") <= LIMITS.toolResultBytes) return { result: clean, truncated: false };
  return { result: cutToBytes(clean, LIMITS.toolResultReducedBytes), truncated: true };
}

/** The longest start of a text that has at most so many bytes of UTF-8; never splits a character. */
export function cutToBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text, "utf8");
  if (encoded.length <= bytes) return text;
  let end = Math.max(0, bytes);
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return encoded.toString("utf8", 0, end);
}

/** A JSON value of whatever was given: what JSON cannot hold becomes text or goes. */
function clean(value: unknown, redact: (text: string) => string, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return redact(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return String(value);
    case "object":
      if (value === null) return null;
      if (depth >= DEEPEST) return "…";
      if (Array.isArray(value)) return value.map((one) => clean(one, redact, depth + 1));
      return Object.fromEntries(
        Object.entries(value)
          .filter(([, one]) => one !== undefined)
          .map(([key, one]) => [key, clean(one, redact, depth + 1)]),
      );
    default:
      return null;
  }
}
