import type { handleUnaryCall } from "@grpc/grpc-js";
import { ActiveCall } from "./activeCall.js";
import type { HarnessRuntime } from "./harnessRuntime.js";
import type { MessageCodec } from "./messageCodec.js";
import type { UnaryMethod } from "./methods.js";

/** Makes the grpc-js handler of a unary method. */
export function serveUnary(
  runtime: HarnessRuntime,
  path: string,
  codec: MessageCodec,
  method: UnaryMethod<unknown, unknown>,
): handleUnaryCall<Buffer, Buffer> {
  return (call, callback) => {
    const active = new ActiveCall(runtime, path, call, {
      defaultDeadline: true,
      respond: (status) => {
        callback(status);
      },
    });
    const run = async (): Promise<void> => {
      const response = codec.encode(await method.handle(codec.decode(call.request), active.context));
      if (active.succeed()) callback(null, response);
    };
    run().catch((caught: unknown) => {
      active.fail(caught);
    });
  };
}
