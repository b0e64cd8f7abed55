import { expect, test } from "vitest";

import { Delivery, DeliveryState } from "../../gen/talaria/dm/v1/delivery.js";
import type { ClientCallOptions } from "../../rpc/clients/callOptions.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayClient } from "../gatewayClient.js";
import { dmSend } from "./dm.js";

const delivery = Delivery.fromPartial({ deliveryId: "del_1", state: DeliveryState.DELIVERY_STATE_QUEUED });

interface Script {
  readonly call?: () => Promise<unknown>;
  readonly watch?: (signal: AbortSignal | undefined) => AsyncGenerator;
}

/** Sends with `--wait` to a gateway that does as the script says. */
function sendTo({ call = () => Promise.resolve({ delivery, replayed: false }), watch }: Script): Promise<void> {
  const client = {
    call,
    stream: (_method: unknown, _request: unknown, options?: ClientCallOptions) => watch?.(options?.signal),
  } as unknown as GatewayClient;
  const context = {
    terminal: { env: {} },
    options: {},
    json: false,
    gateway: () => Promise.resolve(client),
    newRequestId: () => "req_1",
    print: () => undefined,
  } as unknown as CommandContext;
  return dmSend(context, { target: "bob", body: "hello", wait: true });
}

test("a send whose answer was lost says under which key it may be repeated; one that was refused does not", async () => {
  const failing = (error: RpcError) => sendTo({ call: () => Promise.reject(error) });
  await expect(failing(new RpcError("UNAVAILABLE"))).rejects.toMatchObject({
    reason: "UNAVAILABLE",
    hint: expect.stringContaining("--request-id req_1") as string,
  });
  await expect(failing(new RpcError("EMPTY_BODY"))).rejects.toMatchObject({
    hint: expect.not.stringContaining("req_1") as string,
  });
});

test("a gateway that goes away while the reply is waited for leaves the name of the message", async () => {
  const watch = async function* (): AsyncGenerator {
    yield await Promise.resolve({ delivery });
    throw new RpcError("DRAINING");
  };
  await expect(sendTo({ watch })).rejects.toMatchObject({
    reason: "DRAINING",
    hint: expect.stringContaining("deliveries watch del_1") as string,
  });
});

test("an interrupt ends the waiting, names the message, and is listened for no longer", async () => {
  const before = process.listenerCount("SIGINT");
  const watch = async function* (signal: AbortSignal | undefined): AsyncGenerator {
    yield await Promise.resolve({ delivery });
    setImmediate(() => process.emit("SIGINT"));
    await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
  };
  await expect(sendTo({ watch })).rejects.toMatchObject({
    reason: "CANCELLED",
    hint: expect.stringContaining("deliveries watch del_1") as string,
  });
  expect(process.listenerCount("SIGINT")).toBe(before);
});
