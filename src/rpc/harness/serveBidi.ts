import { Metadata, type handleBidiStreamingCall } from "@grpc/grpc-js";
import { MessageReader } from "../messageReader.js";
import { MessageSender } from "../messageSender.js";
import { RpcError } from "../rpcError.js";
import { ActiveCall } from "./activeCall.js";
import type { HarnessRuntime } from "./harnessRuntime.js";
import type { MessageCodec } from "./messageCodec.js";
import type { BidiMethod } from "./methods.js";

/** Makes the grpc-js handler of a bidirectional method. */
export function serveBidi(
  runtime: HarnessRuntime,
  path: string,
  codec: MessageCodec,
  method: BidiMethod<unknown, unknown>,
): handleBidiStreamingCall<Buffer, Buffer> {
  return (call) => {
    const active = new ActiveCall(runtime, path, call, {
      defaultDeadline: false,
      respond: (status) => {
        // The only way to end a writable call with a status: destroying it would leave the client waiting.
        call.emit("error", status);
      },
    });
    const requests = new MessageReader(call, codec.decode);
    const sender = new MessageSender(call, codec.encode);
    active.onAbort((error) => {
      requests.abort(error);
      sender.close(error);
    });
    // Until it has seen headers a client's writes go to its retry buffer.
    call.sendMetadata(new Metadata());
    const run = async (): Promise<void> => {
      await method.handle(
        {
          requests,
          send: (response) => sender.send(response),
          sendNow: (response, onWritten) => sender.sendNow(response, onWritten),
          drained: () => sender.drained(),
        },
        active.context,
      );
    };
    run().then(
      () => {
        sender.close(new RpcError("CANCELLED", { message: "The handler has returned." }));
        if (active.succeed()) call.end();
      },
      (caught: unknown) => {
        const error = RpcError.from(caught);
        sender.close(error);
        active.fail(error);
      },
    );
  };
}
