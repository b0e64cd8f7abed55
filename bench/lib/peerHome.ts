import { systemClock } from "../../src/base/clock.js";
import { ensureHome } from "../../src/base/ensureHome.js";
import { homePaths } from "../../src/base/home.js";
import { joinedPeer } from "../../src/store/peers/putPeer.js";
import { openStore } from "../../src/store/store.js";
import { makeHome } from "./benchHome.js";

/** Agents that messages go to, so that none of them has a long queue. */
export const RECIPIENTS = 64;

/** What a home calls the keys that it has paired, in their order. */
export function clientName(index: number): string {
  return `client${String(index)}`;
}

/** The agents that messages go to. */
export function recipientNames(count = RECIPIENTS): readonly string[] {
  return Array.from({ length: count }, (_, index) => `agent${String(index)}`);
}

/** Pairs keys with a home that nobody serves, under the names of {@link clientName}. */
export async function pairClients(home: string, pins: readonly string[]): Promise<void> {
  const paths = homePaths(home);
  ensureHome(paths);
  const store = await openStore(paths);
  try {
    for (const [index, pin] of pins.entries()) {
      const name = clientName(index);
      // Without an address, so that nothing dials what only calls.
      const draft = { pin, name, chosenHere: true, address: "", connector: false, grants: undefined };
      const outcome = await store.writer.execute(joinedPeer, { ...draft, now: systemClock.now() });
      if (outcome.kind !== "stored") throw new Error(`a key was not paired: ${outcome.kind}`);
    }
  } finally {
    await store.close();
  }
}

/** A home with a peer listener, {@link recipientNames} after its main agent, and paired keys. */
export async function makePeerHome(
  clientPins: readonly string[],
  workers: { readonly pool_size: number; readonly max?: number } = { pool_size: 0 },
): Promise<string> {
  const config = { name: "bench", log_level: "error", workers, listeners: { peers: { host: "127.0.0.1", port: 0 } } };
  const home = makeHome(config, ["main", ...recipientNames()]);
  await pairClients(home, clientPins);
  return home;
}
