import type { ModelFailure } from "./modelFailure.js";

const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const UNTRUSTED = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_)/;

/**
 * Decides what an error of a connection means: one that was never made, or one that broke. Pure.
 * @param host host and port of the endpoint, for the message
 */
export function judgeConnectionError(error: unknown, host: string): ModelFailure {
  const codes = codesOf(error);
  const code = codes.find((one) => UNREACHABLE.has(one));
  if (code !== undefined) {
    const message = `The model's endpoint at ${host} cannot be reached (${code}).`;
    return { reason: "PROVIDER_UNREACHABLE", message, retryable: true, again: false };
  }
  const untrusted = codes.find((one) => UNTRUSTED.test(one));
  if (untrusted !== undefined) {
    const message = `The certificate of the model's endpoint at ${host} is not trusted (${untrusted}).`;
    return { reason: "PROVIDER_UNREACHABLE", message, retryable: false, again: false };
  }
  if (messagesOf(error).some((text) => /redirect/i.test(text))) {
    const message = `The model's endpoint at ${host} redirects elsewhere; set base_url to where it leads.`;
    return { reason: "RUNTIME_CONFIG", message, retryable: false, again: false };
  }
  const silent = codes.find((one) => one === "UND_ERR_HEADERS_TIMEOUT" || one === "UND_ERR_BODY_TIMEOUT");
  if (silent !== undefined) {
    const message = `The model's endpoint at ${host} stopped answering.`;
    return { reason: "PROVIDER_SERVER", message, retryable: true, again: false };
  }
  const message = `The connection to the model's endpoint at ${host} broke.`;
  return { reason: "PROVIDER_SERVER", message, retryable: true, again: true };
}

/** An error and what led to it, at most eight deep. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  let queue: readonly unknown[] = [error];
  while (queue.length > 0 && chain.length < 8) {
    const errors = queue.filter((one) => one instanceof Error);
    chain.push(...errors);
    queue = errors.flatMap((one) => [one.cause, ...(one instanceof AggregateError ? (one.errors as unknown[]) : [])]);
  }
  return chain;
}

function codesOf(error: unknown): readonly string[] {
  return chainOf(error).flatMap((one) => {
    const { code } = one as NodeJS.ErrnoException;
    return typeof code === "string" ? [code] : [];
  });
}

function messagesOf(error: unknown): readonly string[] {
  return chainOf(error).map(({ message }) => message);
}
