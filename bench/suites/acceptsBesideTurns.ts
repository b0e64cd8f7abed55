import type { Client } from "@grpc/grpc-js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { removeHome } from "../lib/benchHome.js";
import { startProcess, type BenchProcess } from "../lib/benchProcess.js";
import { requestOf } from "../lib/deliverLoad.js";
import { makePeerHome, RECIPIENTS, recipientNames } from "../lib/peerHome.js";
import { makePeerKey, type PeerKey } from "../lib/peerKey.js";
import { makeRow, type Row } from "../lib/row.js";
import { quantile } from "../lib/stats.js";
import { beginTurn } from "../lib/turnCalls.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import type { Suite } from "../suite.js";

/** Turns that run, each with a word every so many milliseconds. */
const TURNS = 50;
const WORD_MS = 100;
/** Words of a turn: more than a round has time for. */
const WORDS = 1_500;
/** Messages of each kind in one look, one after another, and the pause between two, milliseconds. */
const MESSAGES = 600;
const PAUSE_MS = 5;
const BYTES = 512;

/** How long acceptances took, milliseconds. */
interface Look {
  readonly peer: readonly number[];
  readonly client: readonly number[];
}

/** Acceptance of messages, from a peer and from a client, while fifty turns stream, against the same gateway without a turn. */
export const acceptsBesideTurns: Suite = async ({ rounds, scale, progress }) => {
  const turns = Math.max(5, Math.round(TURNS * scale));
  const messages = Math.max(50, Math.round(MESSAGES * scale));
  const key = await makePeerKey();
  const [idle, busy]: [Look[], Look[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    progress(`accepts beside turns: round ${String(round + 1)}, ${String(turns)} turns`);
    const home = await makePeerHome([key.pin], { pool_size: 1, max: 64 });
    const gateway = startProcess<GatewayMethods>("gatewayProcess");
    const senders: Senders[] = [];
    try {
      // Messages start no turns: what runs are the fifty.
      const started = await gateway.call("start", { home, turnsStart: false });
      const one = new Senders(key, started, await connectTo(started.addresses.clientSocket));
      senders.push(one);
      await one.look(Math.round(messages / 4));
      idle.push(await one.look(messages));
      const text = `!say word\n!sleep ${String(WORD_MS)}\n`.repeat(WORDS);
      for (let turn = 0; turn < turns; turn++) await beginTurn(one.local, text);
      await expectTurns(gateway, turns);
      busy.push(await one.look(messages));
      await expectTurns(gateway, turns);
      const { accepted, states } = await gateway.call("totals", undefined);
      if (accepted !== one.sent || states.queued !== one.sent) {
        throw new Error(`${String(one.sent)} messages were accepted, on disk are ${JSON.stringify(states)}`);
      }
      await gateway.call("stop", undefined);
    } finally {
      for (const one of senders) one.close();
      await gateway.end();
      removeHome(home);
    }
  }
  return rowsOf(idle, busy, turns);
};

function connectTo(address: string): Promise<Client> {
  return connectClient({ address, purpose: "unix", ownConnection: true });
}

async function expectTurns(gateway: BenchProcess<GatewayMethods>, expected: number): Promise<void> {
  const running = await gateway.call("runningTurns", undefined);
  if (running !== expected) throw new Error(`${String(running)} turns run, not ${String(expected)}`);
}

/** A peer and a client of one gateway that send in turn. */
class Senders {
  /** Messages that were accepted. */
  sent = 0;
  readonly local: Client;
  readonly #peer: Client;

  constructor(key: PeerKey, { addresses, pin }: Started, local: Client) {
    this.local = local;
    this.#peer = key.connect({ address: addresses.peers ?? "", pin });
  }

  async look(messages: number): Promise<Look> {
    const look: { peer: number[]; client: number[] } = { peer: [], client: [] };
    for (let message = 0; message < messages; message++) {
      look.peer.push(await this.#timed((index) => this.#deliver(index)));
      look.client.push(await this.#timed((index) => this.#send(index)));
    }
    return look;
  }

  close(): void {
    this.local.close();
    this.#peer.close();
  }

  async #timed(send: (index: number) => Promise<unknown>): Promise<number> {
    const began = performance.now();
    await send(this.sent);
    const took = performance.now() - began;
    this.sent += 1;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return took;
  }

  #deliver(index: number): Promise<unknown> {
    return unaryCall(this.#peer, PeerServiceService.deliverDm, requestOf(index, BYTES, RECIPIENTS));
  }

  #send(index: number): Promise<unknown> {
    const names = recipientNames();
    // Both senders take every other number, and each goes round all recipients.
    const target = names[Math.floor(index / 2) % names.length] ?? "";
    const requestId = `message-${String(index)}`;
    return unaryCall(this.local, DirectMessageServiceService.sendDirectMessage, {
      requestId,
      target,
      body: "x".repeat(BYTES),
      inReplyTo: "",
      onBehalfOf: "",
      trace: undefined,
    });
  }
}

type Started = Awaited<ReturnType<GatewayMethods["start"]>>;

function rowsOf(idle: readonly Look[], busy: readonly Look[], turns: number): Row[] {
  const kinds = { peer: "DeliverDM of a peer", client: "SendDirectMessage of a client" } as const;
  return (["peer", "client"] as const).flatMap((kind) =>
    ([0.5, 0.99] as const).map((at) =>
      makeRow({
        metric: `accept, ${kinds[kind]}, ${String(turns)} turns running: p${String(at * 100)}`,
        unit: "ms",
        values: busy.map((look) => quantile(look[kind], at)),
        baseline: { name: "the same gateway, no turn", values: idle.map((look) => quantile(look[kind], at)) },
      }),
    ),
  );
}
