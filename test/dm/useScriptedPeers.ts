import { afterEach } from "vitest";
import { scriptedPeer, type PeerScript, type ScriptedPeer } from "./scriptedPeer.js";

/** Serves scripted peers for the tests of a file; after each test they are closed. @returns what serves one */
export function useScriptedPeers(): (script?: PeerScript) => Promise<ScriptedPeer> {
  const open: ScriptedPeer[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((peer) => peer.close()));
  });
  return async (script = {}) => {
    const peer = await scriptedPeer(script);
    open.push(peer);
    return peer;
  };
}
