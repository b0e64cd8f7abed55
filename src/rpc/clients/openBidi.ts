import { status, type Client, type MethodDefinition, type ServiceError, type StatusObject } from "@grpc/grpc-js";
import { createDeferred } from "../../base/deferred.js";
import { encodeUnchecked, passBytes, strictDecode, type Decode, type Encode } from "../codec.js";
import { MessageReader } from "../messageReader.js";
import { MessageSender } from "../messageSender.js";
import { RpcError } from "../rpcError.js";
import { callError, callMetadata, grpcCallOptions, onSignal, type ClientCallOptions } from "./callOptions.js";

/** What {@link openBidi} may be given besides {@link ClientCallOptions}. */
export interface BidiOptions<Request, Response> extends ClientCallOptions {
  /** Replaces the generated encoder, for hot paths, for example with one that reuses a writer. */
  readonly encode?: Encode<Request>;
  /** Replaces the generated decoder, for hot paths; must be strict about UTF-8. */
  readonly decode?: Decode<Response>;
}

/** The client's side of a bidirectional call. */
export interface BidiCall<Request, Response> {
  /** What the server sends, for one loop; leaving the loop cancels the call, and it throws RpcError if the call fails. */
  readonly responses: AsyncIterable<Response>;
  /** Sends a request and waits while the server is behind. @throws RpcError once the call has ended. */
  readonly send: (request: Request) => Promise<void>;
  /**
   * Sends a request at once. @returns false where the server is behind; then await {@link drained} before more.
   * `onWritten` runs when it has left for the transport, and never if the call ends before: the moment to send what has
   * gathered meanwhile.
   */
  readonly sendNow: (request: Request, onWritten?: () => void) => boolean;
  /** Resolves when the server has caught up. @throws RpcError once the call has ended. */
  readonly drained: () => Promise<void>;
  /** Closes the sending half; the server may go on. */
  readonly end: () => void;
  /** Ends the call. */
  readonly cancel: () => void;
  /** Resolves, and never rejects, when the call has ended: undefined after success, else why. */
  readonly ended: Promise<RpcError | undefined>;
}

/** Starts a bidirectional call. The channel's purpose must be one of the streams'. There is no deadline unless given. */
export function openBidi<Request, Response>(
  client: Client,
  method: MethodDefinition<Request, Response>,
  options: BidiOptions<Request, Response> = {},
): BidiCall<Request, Response> {
  const { signal } = options;
  const call = client.makeBidiStreamRequest(
    method.path,
    passBytes,
    passBytes,
    callMetadata(options),
    grpcCallOptions(options, undefined),
  );
  const encode = options.encode ?? method.requestSerialize;
  const decode = options.decode ?? strictDecode((bytes) => method.responseDeserialize(bytes));
  const sender = new MessageSender<Request>(call, (message) => encodeUnchecked(encode, message));
  const responses = new MessageReader(call, decode, () => {
    call.cancel();
  });
  const ended = createDeferred<RpcError | undefined>();
  const endSending = (error: RpcError): void => {
    sender.close(error);
    if (!call.writableEnded) call.end();
  };
  call.on("error", (error: ServiceError) => {
    responses.fail(callError(error, signal));
  });
  const unhook = onSignal(signal, (error) => {
    responses.abort(error);
    sender.close(error);
    call.cancel();
  });
  // The one event that always comes, and the last word on how the call went.
  call.on("status", (final: StatusObject) => {
    unhook();
    if (final.code === status.OK) {
      endSending(new RpcError("UNAVAILABLE", { message: "The other side has ended the call." }));
      ended.resolve(undefined);
      return;
    }
    const error = callError(Object.assign(new Error(final.details), final), signal);
    endSending(error);
    ended.resolve(error);
  });
  return {
    responses,
    send: (request) => sender.send(request),
    sendNow: (request, onWritten) => sender.sendNow(request, onWritten),
    drained: () => sender.drained(),
    end() {
      endSending(new RpcError("CANCELLED", { message: "The sending half was closed." }));
    },
    cancel() {
      call.cancel();
    },
    ended: ended.promise,
  };
}
