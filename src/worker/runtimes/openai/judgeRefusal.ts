import { cutToCodePoints } from "../../../base/codePoints.js";
import { failureReason } from "../../../rpc/failureReason.js";
import type { Reason } from "../../../rpc/reasons.js";
import { limitResetMs } from "./limitReset.js";
import type { ModelFailure } from "./modelFailure.js";

/** What an endpoint said no with. */
export interface Refusal {
  /** HTTP status; undefined for an error inside a stream. */
  readonly status: number | undefined;
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, whatever it is. */
  readonly body: string;
}

/** Longest part of a provider's words that is shown, code points. */
const SHOWN = 600;

const OVERFLOW =
  /context_length_exceeded|exceed_context_size|maximum context|context[ _-](?:length|window|size)|too many tokens|(?:prompt|input|request) (?:is )?too (?:long|large)|reduce the length|token limit/i;
const QUOTA = /insufficient[_ ](?:quota|balance|credits?|funds)|billing|\bquota\b|\bcredits?\b|\bbalance\b|payment/i;
const RATE = /rate[ _-]?limit|per (?:second|minute|hour|day)|\b(?:rpm|tpm|rpd|tpd)\b|too many requests|try again in/i;
const MODEL =
  /model_not_found|\b(?:no such|unknown|invalid) model\b|\bmodel\b.{0,120}?\b(?:not (?:found|exist|available|supported)|does not exist|is not|unavailable)/is;

/**
 * Decides what a refusal means, by its status, then by the code and words of its body. Pure.
 * @param now milliseconds since the Unix epoch, for the moment at which a limit resets
 */
export function judgeRefusal(refusal: Refusal, now: number): ModelFailure {
  const { code, message, isJson } = readBody(refusal.body);
  const text = `${code} ${message}`.trim();
  const status = refusal.status ?? statusOf(code);
  const reason = reasonOf(status, text, isJson);
  const resetMs = limitResetMs(refusal.headers, text, now);
  const said = isJson && message !== "" ? `: ${cutToCodePoints(message.replaceAll(/\s+/g, " "), SHOWN, "…")}` : ".";
  const shown = `${SENTENCES[reason] ?? "The model provider refused the request"}${status === undefined ? "" : ` (HTTP ${String(status)})`}${said}`;
  const limited = reason === "PROVIDER_RATE_LIMIT" || reason === "PROVIDER_QUOTA";
  const again = reason === "PROVIDER_RATE_LIMIT" || reason === "PROVIDER_SERVER";
  return {
    reason,
    message: shown,
    retryable: again,
    again,
    ...(resetMs === undefined || !again ? {} : { waitMs: resetMs }),
    ...(resetMs === undefined || !limited ? {} : { resetsAtMs: now + resetMs }),
  };
}

const SENTENCES: Readonly<Partial<Record<Reason, string>>> = {
  PROVIDER_AUTH: "The model provider refused the key",
  PROVIDER_QUOTA: "The account with the model provider has no quota left",
  PROVIDER_RATE_LIMIT: "The model provider limits the rate of requests",
  PROVIDER_SERVER: "The model provider failed",
  CONTEXT_OVERFLOW: "The conversation does not fit into the context of the model",
  MODEL_UNAVAILABLE: "The model does not exist at the provider or may not be used",
  RUNTIME_CONFIG: "There is no chat endpoint at the base URL",
};

function reasonOf(status: number | undefined, text: string, isJson: boolean): Reason {
  switch (status) {
    case 401:
      return "PROVIDER_AUTH";
    case 402:
      return "PROVIDER_QUOTA";
    case 403:
      if (QUOTA.test(text)) return "PROVIDER_QUOTA";
      return MODEL.test(text) ? "MODEL_UNAVAILABLE" : "PROVIDER_AUTH";
    case 404:
      return isJson && /model/i.test(text) ? "MODEL_UNAVAILABLE" : "RUNTIME_CONFIG";
    case 405:
      return "RUNTIME_CONFIG";
    case 413:
      return "CONTEXT_OVERFLOW";
    case 429:
      if (/insufficient_quota|billing_hard_limit/i.test(text)) return "PROVIDER_QUOTA";
      return QUOTA.test(text) && !RATE.test(text) ? "PROVIDER_QUOTA" : "PROVIDER_RATE_LIMIT";
    case 408:
    case 425:
      return "PROVIDER_SERVER";
    default:
      if (status !== undefined && status >= 500) return OVERFLOW.test(text) ? "CONTEXT_OVERFLOW" : "PROVIDER_SERVER";
      if (OVERFLOW.test(text)) return "CONTEXT_OVERFLOW";
      if (MODEL.test(text)) return "MODEL_UNAVAILABLE";
      return byWords(status, text);
  }
}

/** An error inside a stream that says nothing known is the provider's own. */
function byWords(status: number | undefined, text: string): Reason {
  const reason = failureReason("RUNTIME_FAILED", text);
  return reason === "RUNTIME_FAILED" && status === undefined ? "PROVIDER_SERVER" : reason;
}

/** Some providers put the status of an error inside a stream into its code. */
function statusOf(code: string): number | undefined {
  const [, status] = /(?:^|\s)([45]\d\d)(?:\s|$)/.exec(code) ?? [];
  return status === undefined ? undefined : Number(status);
}

/** `{"error": {"code", "type", "message"}}`, `{"error": "..."}`, `{"message"}`, `{"detail"}`, in a list or not. */
function readBody(body: string): { readonly code: string; readonly message: string; readonly isJson: boolean } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { code: "", message: body.slice(0, 4_096), isJson: false };
  }
  const outer = record(Array.isArray(parsed) ? parsed[0] : parsed);
  const inner = outer["error"] === undefined ? outer : outer["error"];
  if (typeof inner === "string") return { code: word(outer["code"]), message: inner, isJson: true };
  const error = record(inner);
  const code = [error["code"], error["type"], error["status"]].map(word).filter((one) => one !== "");
  const message = [error["message"], error["detail"], outer["message"], outer["detail"]]
    .map(word)
    .find((one) => one !== "");
  return { code: code.join(" "), message: message ?? "", isJson: true };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function word(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
