import { hash } from "node:crypto";

/** Names of spans that others name too, see {@link "./tracer.js".Tracer.named}. Each follows from an id that is unique in the world. */
export const SPAN_NAMES = {
  /** One execution, from its input's place in the queue to the end of its processes. */
  turn: (executionId: string) => `turn:${executionId}`,
  /** The work of its agent, which is below it. */
  agent: (executionId: string) => `agent:${executionId}`,
  /** A tool call of that. Source: the contract, Bootstrap.trace_work. */
  tool: (executionId: string, callId: string) => `tool:${executionId}:${callId}`,
  /** A message on its way, in one attempt epoch. */
  delivery: (deliveryId: string, attemptEpoch: number) => `delivery:${deliveryId}.${String(attemptEpoch)}`,
} as const;

/** The span id of a name: 16 hexadecimal digits, not all zero. */
export function spanIdOfName(name: string): string {
  const id = hash("sha256", name, "hex").slice(0, 16);
  // W3C Trace Context forbids all zeroes.
  return /^0+$/.test(id) ? "0000000000000001" : id;
}
