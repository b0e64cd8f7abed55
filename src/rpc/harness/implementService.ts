import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { passBytes } from "../codec.js";
import { RpcError } from "../rpcError.js";
import type { HarnessRuntime } from "./harnessRuntime.js";
import { messageCodec, type AnyDefinition } from "./messageCodec.js";
import type {
  BidiMethod,
  ClientStreamMethod,
  ServerStreamMethod,
  UnaryMethod,
  UnimplementedMethod,
} from "./methods.js";
import { serveBidi } from "./serveBidi.js";
import { serveClientStream } from "./serveClientStream.js";
import { serveServerStream } from "./serveServerStream.js";
import { serveUnary } from "./serveUnary.js";

/** One method of a generated service definition, with its types. */
interface TypedMethod<Request, Response> {
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (response: Response) => Buffer;
}

/** The kind of handler that a method of a definition needs. */
export type HandlerOf<Method> =
  Method extends TypedMethod<infer Request, infer Response>
    ? | UnimplementedMethod
      | (Method extends { readonly requestStream: false; readonly responseStream: false }
          ? UnaryMethod<Request, Response>
          : Method extends { readonly requestStream: false; readonly responseStream: true }
            ? ServerStreamMethod<Request, Response>
            : Method extends { readonly requestStream: true; readonly responseStream: false }
              ? ClientStreamMethod<Request, Response>
              : BidiMethod<Request, Response>)
    : never;

/** One handler for each method of a definition. */
export type Handlers<Definition> = { readonly [Name in keyof Definition]: HandlerOf<Definition[Name]> };

/** A service with its handlers, to be given to a listener. */
export interface ServiceImplementation {
  /** Full name: `<package>.<Service>`. */
  readonly name: string;
  /** The generated definition, with (de)serializers that leave bytes as they are. */
  readonly definition: ServiceDefinition;
  /** Makes the grpc-js handlers for one listener. */
  bind(runtime: HarnessRuntime): UntypedServiceImplementation;
}

/**
 * Joins a generated service definition with its handlers.
 * @throws Error where a method has no handler or one of the wrong kind, so that a gap is found at the start.
 */
export function implementService<const Definition extends ServiceDefinition>(
  definition: Definition,
  handlers: Handlers<Definition>,
): ServiceImplementation {
  const methods = Object.entries(definition as unknown as Record<string, AnyDefinition>);
  const given = handlers as unknown as Readonly<Record<string, ServedMethod | UnimplementedMethod | undefined>>;
  const joined = methods.map(([name, method]) => {
    const handler = given[name];
    if (handler === undefined) throw new Error(`no handler for ${method.path}`);
    const kind = kindOf(method);
    if (handler.kind === "unimplemented") return { name, method, handler: refuseAs(kind) };
    if (handler.kind !== kind) throw new Error(`${method.path} is ${kind}, but its handler is ${handler.kind}`);
    return { name, method, handler };
  });
  const [first] = methods;
  if (first === undefined) throw new Error("a service needs a method");
  return {
    name: first[1].path.split("/")[1] ?? "",
    definition: Object.fromEntries(joined.map(({ name, method }) => [name, withBytes(method)])),
    bind: (runtime) =>
      Object.fromEntries(joined.map(({ name, method, handler }) => [name, serve(runtime, method, handler)])),
  };
}

/** A method whose messages' types were checked where definition and handlers were joined. */
type ServedMethod =
  | UnaryMethod<unknown, unknown>
  | ServerStreamMethod<unknown, unknown>
  | ClientStreamMethod<unknown, unknown>
  | BidiMethod<unknown, unknown>;

function kindOf(method: AnyDefinition): ServedMethod["kind"] {
  if (method.requestStream) return method.responseStream ? "bidi" : "clientStream";
  return method.responseStream ? "serverStream" : "unary";
}

function refuseAs(kind: ServedMethod["kind"]): ServedMethod {
  const handle = (): never => {
    throw new RpcError("UNIMPLEMENTED");
  };
  return { kind, handle };
}

function withBytes(method: AnyDefinition): AnyDefinition {
  const bytes = passBytes as (value: unknown) => Buffer;
  return { ...method, requestDeserialize: bytes, responseSerialize: bytes };
}

function serve(
  runtime: HarnessRuntime,
  definition: AnyDefinition,
  method: ServedMethod,
): UntypedServiceImplementation[string] {
  const { path } = definition;
  const codec = messageCodec(definition, method);
  switch (method.kind) {
    case "unary":
      return serveUnary(runtime, path, codec, method);
    case "serverStream":
      return serveServerStream(runtime, path, codec, method);
    case "clientStream":
      return serveClientStream(runtime, path, codec, method);
    case "bidi":
      return serveBidi(runtime, path, codec, method);
  }
}
