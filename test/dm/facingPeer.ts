import type { PeerScript, ScriptedPeer } from "./scriptedPeer.js";
import type { TestGateway, TestGatewayOptions } from "./testGateway.js";

/** What makes the two sides: see `useGateways` and `useScriptedPeers`. */
export interface Sides {
  readonly use: (options: { readonly name: string } & Partial<TestGatewayOptions>) => Promise<TestGateway>;
  readonly usePeer: (script: PeerScript) => Promise<ScriptedPeer>;
}

/** A started gateway whose peer `south` does as the script says. */
export async function facingPeer(
  { use, usePeer }: Sides,
  script: PeerScript,
  options: Partial<TestGatewayOptions> = {},
): Promise<{ readonly north: TestGateway; readonly peer: ScriptedPeer }> {
  const peer = await usePeer(script);
  const north = await use({ name: "north", ...options });
  north.peers.set("south", { name: "south", address: peer.address, pin: peer.pin });
  await north.start();
  return { north, peer };
}
