import type { handleClientStreamingCall } from "@grpc/grpc-js";
import { MessageReader } from "../messageReader.js";
import { ActiveCall } from "./activeCall.js";
import type { HarnessRuntime } from "./harnessRuntime.js";
import type { MessageCodec } from "./messageCodec.js";
import type { ClientStreamMethod } from "./methods.js";

/** Makes the grpc-js handler of a method that takes a stream of requests. */
export function serveClientStream(
  runtime: HarnessRuntime,
  path: string,
  codec: MessageCodec,
  method: ClientStreamMethod<unknown, unknown>,
): handleClientStreamingCall<Buffer, Buffer> {
  return (call, callback) => {
    const active = new ActiveCall(runtime, path, call, {
      defaultDeadline: true,
      respond: (status) => {
        callback(status);
      },
    });
    const requests = new MessageReader(call, codec.decode);
    active.onAbort((error) => {
      requests.abort(error);
    });
    const run = async (): Promise<void> => {
      const response = codec.encode(await method.handle(requests, active.context));
      if (active.succeed()) callback(null, response);
    };
    run().catch((caught: unknown) => {
      active.fail(caught);
    });
  };
}
