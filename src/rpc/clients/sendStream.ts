import type { Client, MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { createDeferred } from "../../base/deferred.js";
import { decodeMessage, encodeUnchecked, passBytes, strictDecode } from "../codec.js";
import { MessageSender } from "../messageSender.js";
import { RpcError } from "../rpcError.js";
import { callError, callMetadata, grpcCallOptions, onSignal, type ClientCallOptions } from "./callOptions.js";
import { DEFAULT_UNARY_TIMEOUT_MS } from "./unaryCall.js";

/**
 * Calls a method that takes a stream of requests. If the server answers early, the rest is not sent.
 * @throws RpcError whatever went wrong with the call; and what `requests` throws, after cancelling the call.
 */
export async function sendStream<Request, Response>(
  client: Client,
  method: MethodDefinition<Request, Response>,
  requests: AsyncIterable<Request> | Iterable<Request>,
  options: ClientCallOptions = {},
): Promise<Response> {
  const { signal } = options;
  const answer = createDeferred<Response>();
  const answered = new AbortController();
  const decode = strictDecode((bytes) => method.responseDeserialize(bytes));
  const settle = (error: ServiceError | null, bytes: Buffer | undefined): void => {
    if (error !== null) answer.reject(callError(error, signal));
    else if (bytes === undefined)
      answer.reject(new RpcError("MALFORMED_MESSAGE", { message: "There was no response." }));
    else answer.resolve(decodeMessage(decode, bytes));
  };
  const call = client.makeClientStreamRequest(
    method.path,
    passBytes,
    passBytes,
    callMetadata(options),
    grpcCallOptions(options, DEFAULT_UNARY_TIMEOUT_MS),
    (error, bytes) => {
      unhook();
      answered.abort();
      sender.close(new RpcError("CANCELLED", { message: "The other side has answered." }));
      try {
        settle(error, bytes);
      } catch (caught) {
        answer.reject(caught);
      }
    },
  );
  const sender = new MessageSender<Request>(call, (message) => encodeUnchecked(method.requestSerialize, message));
  const unhook = onSignal(signal, () => {
    call.cancel();
  });
  // Awaited below; without this an early refusal would count as unhandled while requests are still being made.
  answer.promise.catch(() => undefined);
  try {
    for await (const request of requests) {
      if (answered.signal.aborted) break;
      await sender.send(request);
    }
    if (!call.writableEnded) call.end();
  } catch (caught) {
    if (!answered.signal.aborted) {
      call.cancel();
      throw caught;
    }
  }
  return answer.promise;
}
