import type { handleServerStreamingCall } from "@grpc/grpc-js";
import { MessageSender } from "../messageSender.js";
import { ActiveCall } from "./activeCall.js";
import type { HarnessRuntime } from "./harnessRuntime.js";
import type { MessageCodec } from "./messageCodec.js";
import type { ServerStreamMethod } from "./methods.js";

/** Makes the grpc-js handler of a method that streams responses: one loop that writes at the client's pace. */
export function serveServerStream(
  runtime: HarnessRuntime,
  path: string,
  codec: MessageCodec,
  method: ServerStreamMethod<unknown, unknown>,
): handleServerStreamingCall<Buffer, Buffer> {
  return (call) => {
    const active = new ActiveCall(runtime, path, call, {
      defaultDeadline: false,
      respond: (status) => {
        // The only way to end a writable call with a status: destroying it would leave the client waiting.
        call.emit("error", status);
      },
    });
    const sender = new MessageSender(call, codec.encode);
    active.onAbort((error) => {
      sender.close(error);
    });
    const run = async (): Promise<void> => {
      const responses = method.handle(codec.decode(call.request), active.context)[Symbol.asyncIterator]();
      // Wakes a source that waits without looking at the signal; a generator is closed once it goes on.
      active.onAbort(() => {
        responses.return?.().catch((caught: unknown) => {
          active.fail(caught);
        });
      });
      let exhausted = false;
      try {
        while (!exhausted) {
          const next = await responses.next();
          exhausted = next.done === true;
          // Once the call has ended, sending throws why.
          if (next.done !== true && !sender.sendNow(next.value)) await sender.drained();
        }
      } finally {
        if (!exhausted) await responses.return?.();
      }
      if (active.succeed()) call.end();
    };
    run().catch((caught: unknown) => {
      active.fail(caught);
    });
  };
}
