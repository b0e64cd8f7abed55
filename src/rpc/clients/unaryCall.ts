import type { Client, MethodDefinition } from "@grpc/grpc-js";
import { decodeMessage, encodeUnchecked, passBytes, strictDecode } from "../codec.js";
import { RpcError } from "../rpcError.js";
import {
  callError,
  callMetadata,
  cancellation,
  grpcCallOptions,
  onSignal,
  type ClientCallOptions,
} from "./callOptions.js";

/** Time for a unary call that is given none, milliseconds. */
export const DEFAULT_UNARY_TIMEOUT_MS = 30_000;

/**
 * Calls a unary method: `unaryCall(client, TurnServiceService.stopTurn, request)`.
 * @throws RpcError whatever went wrong; nothing else.
 */
export function unaryCall<Request, Response>(
  client: Client,
  method: MethodDefinition<Request, Response>,
  request: Request,
  options: ClientCallOptions = {},
): Promise<Response> {
  const { signal } = options;
  return new Promise<Response>((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(cancellation(signal));
      return;
    }
    const decode = strictDecode((bytes) => method.responseDeserialize(bytes));
    const encode = (message: Request): Buffer => encodeUnchecked(method.requestSerialize, message);
    const call = client.makeUnaryRequest(
      method.path,
      encode,
      passBytes,
      request,
      callMetadata(options),
      grpcCallOptions(options, DEFAULT_UNARY_TIMEOUT_MS),
      (error, bytes) => {
        unhook();
        if (error !== null) reject(callError(error, signal));
        else if (bytes === undefined) reject(new RpcError("MALFORMED_MESSAGE", { message: "There was no response." }));
        else settle(bytes);
      },
    );
    const settle = (bytes: Buffer): void => {
      try {
        resolve(decodeMessage(decode, bytes));
      } catch (caught) {
        reject(RpcError.from(caught));
      }
    };
    const unhook = onSignal(signal, () => {
      call.cancel();
    });
  });
}
