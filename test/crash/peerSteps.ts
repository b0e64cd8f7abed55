import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";

import { AdminServiceService, PeerLink } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { send } from "../dm/calls.js";
import type { UpdateLog } from "../kit/turnClient.js";
import { show, waitFor, waitUntil } from "../kit/waitFor.js";
import type { PeerPair, Side } from "./peerPair.js";

/** The committed steps of a message to a peer, in their order. */
export const STEPS = [
  "sent",
  "accepted",
  "claimed",
  "turn started",
  "result committed",
  "receipt sent",
  "receipt stored",
  "sender notified",
] as const;

/** One of {@link STEPS}. */
export type PeerStep = (typeof STEPS)[number];

/** A message that stands at a step and goes no further until it is let go. */
export interface StandingMessage {
  /** Its delivery's id in north. */
  readonly id: string;
  /** Lets it go on, once whoever was killed is served again. */
  release(): Promise<void>;
}

const REPLY = "y".repeat(3_000);
/** A turn that waits for a person. */
const ASKS = `!ask Shall I answer?\n!say ${REPLY}`;
/** A turn that leaves nothing behind when its gateway dies: its worker never hears of it. */
const SPINS = "!say begun\n!spin 600000";

/** Sends a message from alice in north to an agent in south and brings it to a step. @param killed who will be killed there */
export async function standAt(pair: PeerPair, step: PeerStep, killed: Side): Promise<StandingMessage> {
  const wire = pair.wires.south;
  const done = (id: string, release: StandingMessage["release"] = () => Promise.resolve()): StandingMessage => ({
    id,
    release,
  });
  const openWire = (): Promise<void> => {
    wire.release();
    return Promise.resolve();
  };
  switch (step) {
    case "sent": {
      await connected(pair);
      wire.holdUp();
      return done(await sendTo(pair, "bob", "hello"), openWire);
    }
    case "accepted": {
      const free = await occupy(pair, "south", killed);
      await connected(pair);
      wire.holdDown();
      const id = await sendTo(pair, "bob", "hello");
      await pair.until("south", "it is accepted", "SELECT 1 FROM deliveries WHERE key = ? AND state = 'queued'", id);
      return done(id, async () => {
        wire.release();
        await free();
      });
    }
    case "claimed": {
      rmSync(pair.gate, { force: true });
      const id = await sendTo(pair, "late", "hello");
      const claimed = "SELECT 1 FROM deliveries WHERE key = ? AND state = 'claimed'";
      await pair.until("south", "it is claimed", claimed, id);
      await pair.until("south", "its worker is launched", "SELECT 1 FROM launches WHERE gone_at IS NULL");
      return done(id, () => {
        writeFileSync(pair.gate, "");
        return Promise.resolve();
      });
    }
    case "turn started": {
      if (killed === "north") {
        const { id, answer } = await asking(pair);
        return done(id, answer);
      }
      const watch = await watchBob(pair);
      const id = await sendTo(pair, "bob", SPINS);
      await watch.saw("begun");
      return done(id);
    }
    case "result committed": {
      const { id, answer } = await asking(pair);
      // No receipt can be sent.
      wire.cut();
      await answer();
      await pair.until(
        "south",
        "its end is stored",
        "SELECT 1 FROM deliveries WHERE key = ? AND state = 'replied'",
        id,
      );
      return done(id, openWire);
    }
    case "receipt sent": {
      const { id, answer } = await asking(pair);
      wire.holdDown();
      await answer();
      await waitUntil(
        "the receipt was sent",
        () => wire.bytesHeld > REPLY.length,
        () => wire.bytesHeld,
      );
      return done(id, openWire);
    }
    case "receipt stored": {
      const free = await occupy(pair, "north", killed);
      const id = await sendTo(pair, "bob", "hello");
      await pair.until(
        "north",
        "its receipt is stored",
        "SELECT 1 FROM inputs WHERE in_reply_to = ? AND state = 'queued'",
        id,
      );
      return done(id, free);
    }
    case "sender notified": {
      const id = await sendTo(pair, "bob", "hello");
      await pair.until(
        "north",
        "alice has answered",
        "SELECT 1 FROM inputs WHERE in_reply_to = ? AND state = 'ended'",
        id,
      );
      return done(id);
    }
  }
}

/** Sends a message of alice's. @returns its delivery's id */
export async function sendTo(pair: PeerPair, agent: string, body: string): Promise<string> {
  const { client } = pair.at("north").connect();
  const { delivery } = await send(client, {
    requestId: randomUUID(),
    target: `south/${agent}`,
    body,
    onBehalfOf: "alice",
  });
  return delivery.deliveryId;
}

/** Waits until north watches south's receipts. */
async function connected(pair: PeerPair): Promise<void> {
  const { client } = pair.at("north").connect();
  await waitFor("north is connected to south", async () => {
    const { peers } = await unaryCall(client, AdminServiceService.listPeers, {});
    const up = peers.some(({ link }) => link === PeerLink.PEER_LINK_UP);
    return up ? { found: true } : { state: show(peers) };
  });
}

/** Takes the one slot of a gateway. @returns what gives it back */
async function occupy(pair: PeerPair, side: Side, killed: Side): Promise<() => Promise<void>> {
  const client = pair.at(side).connect();
  const run = client.run("busy", "!sleep 600000");
  const executionId = await run.started();
  // Before that nothing has begun, and the next start would run it.
  await run.reached(TurnPhase.TURN_PHASE_RUNNING);
  return async () => {
    // A turn of a killed gateway has ended with it.
    if (killed !== side) await client.stop(executionId);
  };
}

async function watchBob(pair: PeerPair): Promise<UpdateLog> {
  const [session] = pair.rows<{ id: string }>(
    "south",
    "SELECT session_id AS id FROM sessions WHERE agent = 'bob' AND bot_chat = 1",
  );
  if (session === undefined) throw new Error("bob has no Bot Chat yet");
  const watch = pair.at("south").connect().watch(session.id, { answersPrompts: true });
  await watch.next("snapshot");
  return watch;
}

/** Brings a message to a turn that waits for an answer. */
async function asking(pair: PeerPair): Promise<{ id: string; answer: () => Promise<void> }> {
  const watch = await watchBob(pair);
  const id = await sendTo(pair, "bob", ASKS);
  const { promptId } = await watch.next("promptRaised");
  const client = pair.at("south").connect();
  return {
    id,
    async answer() {
      await client.reply(promptId, "yes");
      watch.cancel();
    },
  };
}
