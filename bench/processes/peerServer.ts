import { answerCalls } from "../lib/calls.js";
import { ownCpuTime } from "../lib/cpuTime.js";
import { openPeer, type OpenPeer, type OpenPeerOptions } from "./openPeer.js";
import { rawCommits } from "./rawCommits.js";

const running: { peer?: OpenPeer } = {};

const methods = {
  /** Opens a peer listener. @returns where it is and the pin of its key */
  open: async (options: OpenPeerOptions) => {
    const peer = (running.peer = await openPeer(options));
    return { address: peer.address, pin: peer.pin };
  },
  /** CPU time of this process so far, microseconds. */
  cpu: () => ownCpuTime(),
  /** Messages on disk. */
  stored: () => running.peer?.stored() ?? 0,
  /** Ends the listener and removes a home of its own. */
  close: async () => {
    await running.peer?.close();
    delete running.peer;
  },
  /** Bare commits on the same disk. */
  rawCommits,
};

/** See the methods. */
export type PeerServerMethods = typeof methods;

answerCalls(methods);
