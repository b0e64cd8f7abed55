import type { Client, MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { encodeUnchecked, passBytes, strictDecode, type Decode } from "../codec.js";
import { MessageReader } from "../messageReader.js";
import { callError, callMetadata, grpcCallOptions, onSignal, type ClientCallOptions } from "./callOptions.js";

/** The responses of a running server stream, for one loop; leaving the loop cancels the call. */
export interface ResponseStream<Response> extends AsyncIterable<Response> {
  /** Ends the call; a loop that waits throws CANCELLED. */
  cancel(): void;
}

/** What {@link readStream} may be given besides {@link ClientCallOptions}. */
export interface ReadStreamOptions<Response> extends ClientCallOptions {
  /** Replaces the generated decoder, for hot paths; must be strict about UTF-8. */
  readonly decode?: Decode<Response>;
}

/**
 * Starts a call that streams responses: `for await (const event of readStream(client, Service.watch, request))`. There is no
 * deadline unless one is given. The loop throws RpcError whatever goes wrong; nothing else.
 */
export function readStream<Request, Response>(
  client: Client,
  method: MethodDefinition<Request, Response>,
  request: Request,
  options: ReadStreamOptions<Response> = {},
): ResponseStream<Response> {
  const { signal } = options;
  const call = client.makeServerStreamRequest(
    method.path,
    (message: Request): Buffer => encodeUnchecked(method.requestSerialize, message),
    passBytes,
    request,
    callMetadata(options),
    grpcCallOptions(options, undefined),
  );
  const decode = options.decode ?? strictDecode((bytes) => method.responseDeserialize(bytes));
  const responses = new MessageReader(call, decode, () => {
    call.cancel();
  });
  call.on("error", (error: ServiceError) => {
    responses.fail(callError(error, signal));
  });
  const unhook = onSignal(signal, (error) => {
    responses.abort(error);
    call.cancel();
  });
  call.on("status", unhook);
  return {
    [Symbol.asyncIterator]: () => responses,
    cancel() {
      call.cancel();
    },
  };
}
