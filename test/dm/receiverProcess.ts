import { systemClock } from "../../src/base/clock.js";
import { openIdentity } from "../../src/rpc/tls/identityKey.js";
import { testGateway } from "./testGateway.js";

/**
 * A gateway that accepts messages and starts no turn, in a process of its own, so that it can be killed. Arguments: its home, and
 * name and pin of the one peer that it knows. Writes its address as one line once it listens.
 */
const [home, peer, pin] = process.argv.slice(2);
if (home === undefined || peer === undefined || pin === undefined) throw new Error("usage: HOME PEER PIN");
const identity = await openIdentity(home, systemClock.now());
const gateway = await testGateway({ name: "south", home, identity, running: false });
gateway.peers.set(peer, { name: peer, address: "127.0.0.1:1", pin });
process.stdout.write(`${gateway.peerAddress}\n`);
