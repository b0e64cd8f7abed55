import type { Client, MethodDefinition } from "@grpc/grpc-js";
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
  const decode = strictDecode((bytes) => method.responseDeserialize(bytes));
  const call = client.makeClientStreamRequest(
    method.path,
    passBytes,
    passBytes,
    callMetadata(options),
    grpcCallOptions(options, DEFAULT_UNARY_TIMEOUT_MS),
    (error, bytes) => {
      unhook();
      answered = true;
      sender.close(new RpcError("CANCELLED", { message: "The other side has answered." }));
      if (error !== null) answer.reject(callError(error, signal));
      else if (bytes === undefined)
        answer.reject(new RpcError("MALFORMED_MESSAGE", { message: "There was no response." }));
      else {
        try {
          answer.resolve(decodeMessage(decode, bytes));
        } catch (caught) {
          answer.reject(caught);
        }
      }
    },
  );
  let answered = false;
  const sender = new MessageSender<Request>(call, (message) => encodeUnchecked(method.requestSerialize, message));
  const unhook = onSignal(signal, () => {
    call.cancel();
  });
  // Handled below; without this an early refusal would count as unhandled while requests are still being made.
  answer.promise.catch(() => undefined);
  try {
    for await (const request of requests) {
      if (answered) break;
      await sender.send(request);
    }
    if (!call.writableEnded) call.end();
  } catch (caught) {
    if (!answered) {
      call.cancel();
      throw caught;
    }
  }
  return answer.promise;
}
