import type { status } from "@grpc/grpc-js";

/** Everything that is fixed about one reason. Source: DESIGN section 9 (one registry yields enum, docs page and hint). */
export interface ReasonEntry {
  /** Number of the value in the protobuf enum `talaria.reason.v1.Reason`; pinned for ever, 1 to 9999, never used twice. */
  readonly number: number;
  /** Name of the gRPC status code that a call refused for this reason ends with. */
  readonly code: Exclude<keyof typeof status, "OK">;
  /** Whether the same request may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** What happened, for people. A `{name}` is replaced by the parameter of that name. */
  readonly message: string;
  /** What to do about it, for people. */
  readonly hint: string;
}
