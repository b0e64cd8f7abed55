import { systemClock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import { pause } from "../../base/pause.js";
import { RpcError } from "../../rpc/rpcError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { connectGateway, endpointOf, type GatewayClient } from "../gatewayClient.js";
import { actOnGateway } from "../top/actOnGateway.js";
import { readSnapshot } from "../top/snapshot.js";
import type { TopAction } from "../top/topState.js";
import { createTopStore } from "../top/topStore.js";

/** Time between two looks at the gateway, milliseconds. */
const EVERY_MS = 1_000;

/** Shows a gateway live until the person leaves; outlives restarts of the gateway. @throws CliError without a terminal. */
export async function top(context: CommandContext): Promise<void> {
  const { terminal } = context;
  if (!terminal.canAsk) {
    throw new CliError("FAILED_PRECONDITION", "talaria top needs a terminal.", "Use talaria status --json in scripts.");
  }
  const leave = new AbortController();
  const failed = createDeferred<never>();
  failed.promise.catch(() => undefined);
  const link: { gateway?: GatewayClient } = {};
  const gateway = async (): Promise<GatewayClient> =>
    (link.gateway ??= await connectGateway(endpointOf(context.options, terminal.env), terminal.env));
  const store = createTopStore((action: TopAction) => {
    if (action.kind === "quit") leave.abort();
    else perform(action).catch(failed.reject);
  });
  const perform = async (action: Exclude<TopAction, { kind: "quit" }>): Promise<void> => {
    try {
      const text = await actOnGateway(await gateway(), action, context.newRequestId());
      store.take({ kind: "notice", text });
      await look();
    } catch (error) {
      store.take({ kind: "notice", text: messageOf(error) });
    }
  };
  const look = async (): Promise<void> => {
    try {
      store.take({ kind: "snapshot", snapshot: await readSnapshot(await gateway(), systemClock.now()) });
    } catch (error) {
      link.gateway?.close();
      delete link.gateway;
      store.take({ kind: "unreachable", message: messageOf(error) });
    }
  };
  const { showScreen } = await import("../top/showScreen.js");
  const screen = await showScreen(store);
  try {
    while (!leave.signal.aborted) {
      await look();
      await Promise.race([pause(systemClock, EVERY_MS, leave.signal), failed.promise]);
    }
  } finally {
    leave.abort();
    screen.unmount();
    link.gateway?.close();
  }
}

function messageOf(error: unknown): string {
  if (error instanceof RpcError || error instanceof CliError) return `${error.message} ${error.hint}`;
  throw error;
}
