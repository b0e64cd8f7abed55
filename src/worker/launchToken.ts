import { LIMITS } from "../base/limits.js";

/** Longest first line that can hold a token; more without a line feed is none. */
const LONGEST_LINE = 256;

const TOKEN_TEXT = /^[A-Za-z0-9_-]{43}$/;

/** What the launch pipe has said so far. */
export type LaunchLine =
  | { readonly kind: "reading"; readonly text: string }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "none" };

/** The state before the first byte. */
export const EMPTY_LAUNCH_LINE: LaunchLine = { kind: "reading", text: "" };

/** Takes in what arrived on the launch pipe. The first line is the token; what follows it is ignored. */
export function readLaunchLine(line: LaunchLine, chunk: string): LaunchLine {
  if (line.kind !== "reading") return line;
  const text = line.text + chunk;
  const end = text.indexOf("\n");
  if (end < 0) return text.length > LONGEST_LINE ? { kind: "none" } : { kind: "reading", text };
  const token = text.slice(0, end).trimEnd();
  return TOKEN_TEXT.test(token) ? { kind: "token", token } : { kind: "none" };
}

/** The token's 32 bytes; no bytes for the empty text, which stands for a launch pipe that ended first. */
export function tokenBytes(token: string): Buffer {
  const bytes = Buffer.from(token, "base64url");
  return bytes.length === LIMITS.secretBytes ? bytes : Buffer.alloc(0);
}
