import { withoutUnseen } from "./brokenText.js";
import type { SecretRegistry } from "./secretRegistry.js";
import { REDACTED } from "./secretRegistry.js";

/** Shapes that are secrets whoever made them. Each keeps what names the secret and replaces its value. */
const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z0-9 ]{1,40}-----(?:[^"]*?-----END [A-Z0-9 ]{1,40}-----|[^"]*)/g, REDACTED],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, REDACTED],
  [
    /\b([A-Za-z0-9_]*(?:_KEY|_TOKEN|_SECRET|_PASS(?:WORD)?))(\s*=\s*)(?:\\?"[^"\\]*\\?"|'[^'\\"]*'|[^\s"'\\,;&]+)/gi,
    `$1$2${REDACTED}`,
  ],
  [
    /("(?:[A-Za-z0-9_-]*[_-])?(?:api_?key|token|secret|pass(?:word)?|authorization)"\s*:\s*")(?:[^"\\]|\\.)+"/gi,
    `$1${REDACTED}"`,
  ],
];

/**
 * `text` without secrets: first those registered, longest first, then bearer tokens, `sk-` keys, PEM blocks and values
 * assigned to names that end in `_KEY`, `_TOKEN`, `_SECRET` or `_PASS`. Where such a value is broken by what nobody sees, such as the
 * colours of a terminal, the text loses that as well.
 */
export function redact(text: string, secrets?: SecretRegistry): string {
  const clean = secrets ? secrets.hide(text) : text;
  const seen = withoutUnseen(clean);
  const hidden = hidePatterns(seen);
  return hidden === seen ? clean : hidden;
}

function hidePatterns(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean;
}
