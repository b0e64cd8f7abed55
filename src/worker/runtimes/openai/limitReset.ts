/** Longest wait that is believed, milliseconds: a month. */
const LONGEST_MS = 31 * 24 * 3_600_000;
/** A number of seconds above this is a moment and not a wait. */
const EPOCH_SECONDS = 1_000_000_000;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * How long a provider asks to wait, milliseconds, or undefined where it does not say: `retry-after-ms`, `retry-after` in seconds or
 * as a date, the `x-ratelimit-reset` headers of whatever has run out, then words such as "try again in 6m0s". Pure.
 * @param headers with names in lower case
 * @param now milliseconds since the Unix epoch
 */
export function limitResetMs(headers: Readonly<Record<string, string>>, text: string, now: number): number | undefined {
  const found = [
    () => number(headers["retry-after-ms"]),
    () => retryAfter(headers["retry-after"], now),
    () => exhausted(headers, now),
    () => resetOf(headers["x-ratelimit-reset"], now),
    () => inWords(text),
  ];
  for (const look of found) {
    const ms = look();
    if (ms !== undefined && ms >= 0 && ms <= LONGEST_MS) return Math.ceil(ms);
  }
  return undefined;
}

function number(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = number(value);
  if (seconds !== undefined) return seconds * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Of the limits of which nothing remains, the one that comes back last. */
function exhausted(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const waits = ["requests", "tokens"].flatMap((what) => {
    if (headers[`x-ratelimit-remaining-${what}`] !== "0") return [];
    const ms = resetOf(headers[`x-ratelimit-reset-${what}`], now);
    return ms === undefined ? [] : [ms];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** `6m0s`, `20ms`, seconds, or a moment in seconds or milliseconds since the epoch. */
function resetOf(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const plain = number(value);
  if (plain === undefined) return duration(value);
  if (plain < EPOCH_SECONDS) return plain * 1_000;
  return Math.max(0, (plain < EPOCH_SECONDS * 1_000 ? plain * 1_000 : plain) - now);
}

function duration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.trim()) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS[unit ?? ""] ?? 0), 0);
}

function inWords(text: string): number | undefined {
  const [, wait] =
    /\b(?:try again|retry|reset\w*) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|s|m|h|d)){1,5})/i.exec(text) ?? [];
  return wait === undefined ? undefined : duration(wait.toLowerCase());
}
