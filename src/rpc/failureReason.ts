import type { Reason } from "./reasons.js";

/** Reasons that name no class of failure: only the text beside them may. */
const CLASSLESS: ReadonlySet<Reason> = new Set<Reason>(["RUNTIME_FAILED", "WORKER_REPORTED_ERROR"]);

/**
 * What providers write, most decisive first: a refused key explains a text that also speaks of quota, a used-up quota one that
 * also speaks of rates. A number counts only after a word that makes it a status.
 */
const CLASSES: readonly (readonly [reason: Reason, pattern: RegExp])[] = [
  [
    "PROVIDER_AUTH",
    /\b(?:invalid|incorrect|missing|expired|revoked) (?:x-)?api[ -_]?key\b|\binvalid_api_key\b|\bauthentication[ _](?:error|failed)\b|\bunauthori[sz]ed\b|\bpermission_error\b/i,
  ],
  ["PROVIDER_AUTH", status("401|403")],
  [
    "PROVIDER_QUOTA",
    /\b(?:insufficient|exceeded|exhausted)\b[^.\n]{0,40}\b(?:quota|credits?|balance|funds)\b|\b(?:quota|credits?|balance)\b[^.\n]{0,40}\b(?:insufficient|exceeded|exhausted|too low)\b|\binsufficient_quota\b|\bout of (?:funds|credits?)\b|\bpayment required\b/i,
  ],
  ["PROVIDER_QUOTA", status("402")],
  ["PROVIDER_RATE_LIMIT", /\brate[ _-]?limit(?:s|ed|_exceeded|_error)?\b|\btoo many requests\b/i],
  ["PROVIDER_RATE_LIMIT", status("429")],
  [
    "CONTEXT_OVERFLOW",
    /\bcontext[ _]length[ _]exceeded\b|\bmaximum context length\b|\bcontext (?:window|length)\b[^.\n]{0,60}\b(?:exceed\w*|too (?:long|large|small)|limit)\b|\bexceed\w*\b[^.\n]{0,60}\bcontext (?:window|length|limit)\b|\b(?:prompt|input) is too long\b/i,
  ],
  [
    "PROVIDER_SERVER",
    /\binternal server error\b|\bserver[ _]error\b|\bbad gateway\b|\bservice unavailable\b|\bgateway time-?out\b|\boverloaded(?:_error)?\b/i,
  ],
  ["PROVIDER_SERVER", status("5\\d\\d")],
  [
    "MODEL_UNAVAILABLE",
    /\bmodel_not_found\b|\b(?:no such|unknown) model\b|\bmodel\b[^.\n]{0,80}\b(?:does not exist|not found)\b/i,
  ],
  [
    "RUNTIME_CONFIG",
    /\bno (?:model )?provider (?:is )?configured\b|\bno api[ -_]?key\b|\bapi[ -_]?key (?:is )?not (?:set|configured)\b/i,
  ],
];

/** The longest part of a text that is looked at, characters: what names the class stands at its head. */
const READ = 4_096;

/**
 * The class of a failure: the reason that was given, and only where that names none the text beside it. A text that names none either
 * leaves the reason as it is. Pure. Source: issue 4, section 4.
 */
export function failureReason(given: Reason, text: string): Reason {
  if (!CLASSLESS.has(given)) return given;
  const head = text.slice(0, READ);
  return CLASSES.find(([, pattern]) => pattern.test(head))?.[0] ?? given;
}

function status(codes: string): RegExp {
  return new RegExp(
    `\\b(?:status|http|code|error)(?:[ _-]?code)?(?:/\\d(?:\\.\\d)?)?["']?[ :=(#-]{0,3}(?:${codes})\\b`,
    "i",
  );
}
