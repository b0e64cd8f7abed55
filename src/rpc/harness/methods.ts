import type { ZodType } from "zod";
import type { Decode, Encode } from "../codec.js";
import type { CallContext } from "./callContext.js";

/** What every kind of method may set. */
export interface MethodOptions<Request, Response, Checked> {
  /** Checks each request and may change its type; a failure is INVALID_FIELD with the fields named. */
  readonly schema?: ZodType<Checked>;
  /** Replaces the generated decoder of requests, for hot paths; must be strict about UTF-8. */
  readonly decode?: Decode<Request>;
  /** Replaces the generated encoder of responses, for hot paths. */
  readonly encode?: Encode<Response>;
}

/** One request, one response. Without a deadline of the client's the call has 30 seconds. */
export interface UnaryMethod<Request, Response> extends MethodOptions<Request, Response, unknown> {
  readonly kind: "unary";
  readonly handle: (request: Request, context: CallContext) => Promise<Response>;
}

/** One request, many responses. The iterable is closed when the client has gone. */
export interface ServerStreamMethod<Request, Response> extends MethodOptions<Request, Response, unknown> {
  readonly kind: "serverStream";
  readonly handle: (request: Request, context: CallContext) => AsyncIterable<Response>;
}

/** Many requests, one response. */
export interface ClientStreamMethod<Request, Response> extends MethodOptions<Request, Response, unknown> {
  readonly kind: "clientStream";
  readonly handle: (requests: AsyncIterable<Request>, context: CallContext) => Promise<Response>;
}

/** The server's side of a bidirectional call. */
export interface BidiStream<Request, Response> {
  /** What the client sends; ends when it has closed its half, throws when the call was aborted. For one loop. */
  readonly requests: AsyncIterable<Request>;
  /** Sends a response and waits while the client is behind. @throws RpcError once the call has ended. */
  readonly send: (response: Response) => Promise<void>;
  /**
   * Sends a response at once. @returns false where the client is behind; then await {@link drained} before more.
   * `onWritten` runs when it has left for the transport, and never if the call ends before.
   */
  readonly sendNow: (response: Response, onWritten?: () => void) => boolean;
  /** Resolves when the client has caught up. @throws RpcError once the call has ended. */
  readonly drained: () => Promise<void>;
}

/** Many requests, many responses. The call ends when the handler returns, whether or not the client has finished. */
export interface BidiMethod<Request, Response> extends MethodOptions<Request, Response, unknown> {
  readonly kind: "bidi";
  readonly handle: (stream: BidiStream<Request, Response>, context: CallContext) => Promise<void>;
}

/** A method that this version answers with UNIMPLEMENTED on purpose. */
export interface UnimplementedMethod {
  readonly kind: "unimplemented";
}

/** Defines a unary method. The types of request and response come from the service that it is given to. */
export function defineUnary<Request, Response, Checked = Request>(
  method: MethodOptions<Request, Response, Checked> & {
    readonly handle: (request: Checked, context: CallContext) => Promise<NoInfer<Response>>;
  },
): UnaryMethod<Request, Response> {
  return { kind: "unary", ...method } as unknown as UnaryMethod<Request, Response>;
}

/** Defines a method that streams responses. */
export function defineServerStream<Request, Response, Checked = Request>(
  method: MethodOptions<Request, Response, Checked> & {
    readonly handle: (request: Checked, context: CallContext) => AsyncIterable<NoInfer<Response>>;
  },
): ServerStreamMethod<Request, Response> {
  return { kind: "serverStream", ...method } as unknown as ServerStreamMethod<Request, Response>;
}

/** Defines a method that takes a stream of requests. The schema checks each of them. */
export function defineClientStream<Request, Response, Checked = Request>(
  method: MethodOptions<Request, Response, Checked> & {
    readonly handle: (requests: AsyncIterable<Checked>, context: CallContext) => Promise<NoInfer<Response>>;
  },
): ClientStreamMethod<Request, Response> {
  return { kind: "clientStream", ...method } as unknown as ClientStreamMethod<Request, Response>;
}

/** Defines a bidirectional method. The schema checks each request. */
export function defineBidi<Request, Response, Checked = Request>(
  method: MethodOptions<Request, Response, Checked> & {
    readonly handle: (stream: BidiStream<Checked, Response>, context: CallContext) => Promise<void>;
  },
): BidiMethod<Request, Response> {
  return { kind: "bidi", ...method } as unknown as BidiMethod<Request, Response>;
}

/** Says that a method is left out on purpose. */
export function defineUnimplemented(): UnimplementedMethod {
  return { kind: "unimplemented" };
}
