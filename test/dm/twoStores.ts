import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { digestOf } from "../../src/base/digest.js";
import { expiryHere } from "../../src/dm/services/expiryHere.js";
import { fromReceipt, toReceipt } from "../../src/dm/wire/receiptWire.js";
import { admitDelivery } from "../../src/store/deliveries/admitDelivery.js";
import { applyReceipts, type StoredReceipt } from "../../src/store/deliveries/applyReceipts.js";
import {
  doubtOutbound,
  endFarDelivery,
  recordAcceptances,
  recordFailedAttempt,
} from "../../src/store/deliveries/attemptCommands.js";
import { cancelDelivery } from "../../src/store/deliveries/cancelDelivery.js";
import type { DeliveryDraft } from "../../src/store/deliveries/deliveryDraft.js";
import { readDestination } from "../../src/store/deliveries/destinations.js";
import { laneOf, type WaitingMessage } from "../../src/store/deliveries/outboundDeliveries.js";
import { readDeliveryByKey, readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { receiptsAfter } from "../../src/store/deliveries/receiptsAfter.js";
import { redriveDelivery } from "../../src/store/deliveries/redriveDelivery.js";
import type { StoredDelivery } from "../../src/store/deliveries/storedDelivery.js";
import { sweepDeliveries } from "../../src/store/deliveries/sweepDeliveries.js";
import { openStore, type Store } from "../../src/store/store.js";
import { adoptExecution } from "../../src/store/turns/adoptExecution.js";
import { assignExecution } from "../../src/store/turns/assignExecution.js";
import { claimInput } from "../../src/store/turns/claimInput.js";
import type { StoredFence } from "../../src/store/turns/fence.js";
import { loseExecution } from "../../src/store/turns/loseExecution.js";
import { releaseSession } from "../../src/store/turns/releaseSession.js";
import { requeueExecution } from "../../src/store/turns/requeueExecution.js";
import { endTurn, type TurnEnd } from "./turnRunner.js";
import { makeDraft } from "../../src/store/deliveries/testing/makeDraft.js";

/** Which of the two. */
export type Side = "north" | "south";

/** What becomes of a call on its way; `killed`: it arrives, and north dies before it hears of it. */
export type Fate = "answered" | "unanswered" | "lost" | "killed";

/** How long a message lives, milliseconds of the clocks here. */
export const LIFE_MS = 1_000;
/** How long a dead letter keeps its body. */
export const DEAD_MS = 5_000;
/** Recipients in south. */
export const RECIPIENTS = 3;

const SCOPE = "peer:north";
const failure = { reason: "UNAVAILABLE", message: "", hint: "", retryable: true } as const;
const digestOfMessage = (agent: string, body: string) => Buffer.from(digestOf([agent, body]), "hex");
const chatOf = (agent: string) => ({ agent, sessionId: `ses_${agent}`, policy: Buffer.of(1) });

/** A turn that was started in south. */
export interface Start {
  readonly recipient: number;
  readonly key: string;
  readonly epoch: number;
}

/**
 * Two gateways' stores with the commands that their doors, links and owners use, and between them a network that the caller plays: it
 * loses, repeats and reorders. Clocks are the caller's too.
 */
export class TwoStores {
  readonly now = { north: 1_000_000, south: 1_000_000 };
  /** Ids that north has accepted, in their order, by recipient. */
  readonly sent: string[][] = Array.from({ length: RECIPIENTS }, () => []);
  /** Attempts that south's door refused for good: id and epoch. */
  readonly refused = new Set<string>();
  /** Turns in the order of their start. */
  readonly starts: Start[] = [];
  readonly #stores: Record<Side, Store>;
  readonly #homes: Record<Side, string>;
  /** What has reached south, to be repeated. */
  readonly #carried: DeliveryDraft[] = [];
  /** Receipts that were read, to be repeated and reordered. */
  readonly #receipts: StoredReceipt[] = [];
  readonly #running = new Map<number, string>();
  #executions = 0;

  private constructor(stores: Record<Side, Store>, homes: Record<Side, string>) {
    this.#stores = stores;
    this.#homes = homes;
  }

  /** Opens both. */
  static async open(): Promise<TwoStores> {
    const homes = { north: freshFolder(), south: freshFolder() };
    return new TwoStores({ north: await open(homes.north), south: await open(homes.south) }, homes);
  }

  /** A side's store. */
  at(side: Side): Store {
    return this.#stores[side];
  }

  /** Sends a message of alice's, under a key. @returns its delivery */
  async send(recipient: number, key: string, body: string): Promise<StoredDelivery | undefined> {
    const now = this.now.north;
    const recipientAgent = `r${String(recipient)}`;
    const draft = makeDraft({
      deliveryId: `del_${key}`,
      key,
      principalScope: "client:x",
      digest: digestOfMessage(recipientAgent, body),
      route: "peer_outbound",
      sender: { kind: "local_agent", id: "agent:alice", displayName: "alice", sentBy: "" },
      replyTo: { kind: "botChat", chat: chatOf("alice") },
      recipientGateway: "south",
      recipientAgent,
      body,
      gateway: "north",
      expiresAt: now + LIFE_MS,
      now,
    });
    const admission = await this.at("north").writer.execute(admitDelivery, draft);
    if (admission.kind === "accepted") this.sent[recipient]?.push(admission.delivery.deliveryId);
    return admission.kind === "refused" ? undefined : admission.delivery;
  }

  /** Makes an attempt at the head of a lane. @returns whether there was one */
  async ship(recipient: number, fate: Fate): Promise<boolean> {
    const { writer, reader } = this.at("north");
    const [head] = laneOf(reader, "south", `r${String(recipient)}`, 1);
    if (head === undefined) return false;
    const { deliveryId } = head;
    const now = this.now.north;
    const undecided = { deliveryId, gateway: "south", error: failure, undecided: true, destinationFailed: false };
    const failed = { ...undecided, nextAttemptAt: now, now };
    if (now > head.expiresAt) {
      if (head.undecided && (await this.#ask(deliveryId))) return true;
      await writer.execute(endFarDelivery, { deliveryId, end: "expired", now });
      return true;
    }
    if (fate === "lost") {
      await writer.execute(recordFailedAttempt, failed);
      return true;
    }
    const draft = this.#inbound(head, recipient);
    if (!(await this.#carry(draft))) {
      await writer.execute(endFarDelivery, { deliveryId, end: "refused", failure, now });
      this.refused.add(`${deliveryId} ${String(head.attemptEpoch)}`);
      return true;
    }
    if (fate === "killed") await this.kill("north");
    else if (fate === "unanswered") await writer.execute(recordFailedAttempt, failed);
    else {
      const hop = { gateway: "south", acceptedAt: now, attempt: head.attempts + 1, deliveryId: draft.deliveryId };
      await writer.execute(recordAcceptances, [{ deliveryId, hop, now }]);
    }
    return true;
  }

  /** Brings something to south that has reached it before. */
  async repeat(index: number): Promise<void> {
    const draft = this.#carried[index % Math.max(1, this.#carried.length)];
    if (draft !== undefined) await this.#carry(draft);
  }

  /** Starts a recipient's next turn. @param adopted whether a worker takes it before anything else happens. @returns whether there was one */
  async start(recipient: number, adopted = true): Promise<boolean> {
    const { writer, reader, epoch } = this.at("south");
    const executionId = `exe_${String((this.#executions += 1))}`;
    const sessionId = chatOf(`r${String(recipient)}`).sessionId;
    const claim = await writer.execute(claimInput, { sessionId, executionId, epoch, now: this.now.south });
    if (claim.kind !== "claimed") return false;
    const delivery = readDelivery(reader, claim.claimed.input.delivery_id ?? "");
    if (delivery === undefined) throw new Error("a turn without a delivery");
    this.starts.push({ recipient, key: delivery.key, epoch: delivery.attemptEpoch });
    this.#running.set(recipient, executionId);
    if (adopted) await this.#adopt({ executionId, epoch, generation: claim.claimed.generation });
    return true;
  }

  async #adopt(fence: StoredFence): Promise<void> {
    const { writer, epoch } = this.at("south");
    const adoptionDigest = Buffer.alloc(32, 7);
    await writer.execute(assignExecution, { fence, epoch, launchId: "lau_gone", adoptionDigest, evidence: "{}" });
    await writer.execute(adoptExecution, { fence, epoch, adoptionDigest });
  }

  /** Ends a recipient's turn, if one runs. */
  async finish(recipient: number, end: TurnEnd): Promise<void> {
    const executionId = this.#running.get(recipient);
    if (executionId === undefined) return;
    this.#running.delete(recipient);
    await this.at("south").writer.execute(endTurn, { executionId, now: this.now.south, ...end });
  }

  /** Carries receipts from where north stands. @returns how many there were */
  async carryReceipts(arrive: boolean): Promise<number> {
    const { cursor, receipts } = this.#read();
    this.#receipts.push(...receipts);
    if (!arrive || cursor === undefined) return receipts.length;
    await this.#apply(receipts, { cursor, storeId: "one" });
    return receipts.length;
  }

  /** Brings every receipt to north again that was read before, the last one first. */
  async repeatReceipts(): Promise<void> {
    await this.#apply([...this.#receipts].reverse());
  }

  /** Withdraws a message, there too where it was accepted. */
  async cancel(deliveryId: string): Promise<void> {
    const result = await this.at("north").writer.execute(cancelDelivery, {
      deliveryId,
      inFlight: false,
      now: this.now.north,
    });
    const there = readDeliveryByKey(this.at("south").reader, SCOPE, deliveryId);
    if (result.kind !== "far" || there === undefined) return;
    await this.at("south").writer.execute(cancelDelivery, {
      deliveryId: there.deliveryId,
      inFlight: false,
      now: this.now.south,
    });
    await this.#ask(deliveryId);
  }

  /** Sends a dead letter again. */
  async redrive(deliveryId: string, requestId: string): Promise<void> {
    const now = this.now.north;
    const again = { deliveryId, requestId, expiresAt: now + LIFE_MS, attribution: "", now };
    await this.at("north").writer.execute(redriveDelivery, again);
  }

  /** Ends what time has ended, on both sides. */
  async sweep(): Promise<void> {
    for (const side of ["north", "south"] as const) {
      const now = this.now[side];
      const request = { now, deadLetterBodyMs: DEAD_MS, farGraceMs: 10 * DEAD_MS, inFlight: [] };
      await this.at(side).writer.execute(sweepDeliveries, request);
    }
  }

  /** Goes on from what was on disk at this moment, as after SIGKILL, and settles what the dead process left. */
  async kill(side: Side): Promise<void> {
    const [from, to] = [this.#homes[side], freshFolder()];
    for (const file of ["state.db", "state.db-wal"]) {
      if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file));
    }
    await this.#stores[side].close();
    rmSync(from, { recursive: true, force: true });
    this.#homes[side] = to;
    this.#stores[side] = await open(to);
    const { writer, epoch } = this.#stores[side];
    if (side === "north") {
      await writer.execute(doubtOutbound, { gateway: "south" });
      return;
    }
    for (const [recipient, executionId] of this.#running) {
      const now = this.now.south;
      const { kind } = await writer.execute(requeueExecution, { executionId, epoch, now });
      if (kind === "requeued") {
        this.starts.splice(
          this.starts.findLastIndex((one) => one.recipient === recipient),
          1,
        );
      } else await writer.execute(loseExecution, { executionId, outcome: "unknown", failure, stopped: false, now });
      await writer.execute(releaseSession, { executionId, now });
    }
    this.#running.clear();
  }

  /** Everything that is in a side's files. */
  bytesOf(side: Side): string {
    this.#stores[side].writer.truncateLog();
    const files = ["state.db", "state.db-wal"].map((file) => join(this.#homes[side], file));
    return files.map((file) => (existsSync(file) ? readFileSync(file, "latin1") : "")).join("");
  }

  /** Closes both and removes their files. */
  async close(): Promise<void> {
    for (const side of ["north", "south"] as const) {
      await this.#stores[side].close();
      rmSync(this.#homes[side], { recursive: true, force: true });
    }
  }

  /** Asks south what became of a message. @returns whether it knows */
  async #ask(deliveryId: string): Promise<boolean> {
    const known = readDeliveryByKey(this.at("south").reader, SCOPE, deliveryId);
    const receipt = known === undefined ? undefined : fromReceipt(toReceipt(known, 0), "south", this.now.north);
    if (receipt !== undefined) await this.#apply([receipt]);
    return receipt !== undefined;
  }

  #read(): { cursor: number | undefined; receipts: StoredReceipt[] } {
    const after = readDestination(this.at("north").reader, "south").receiptCursor;
    const changed = receiptsAfter(this.at("south").reader, SCOPE, after, 4);
    const receipts = changed.flatMap((one) => fromReceipt(toReceipt(one, 0), "south", this.now.north) ?? []);
    return { cursor: changed.at(-1)?.receiptSequence, receipts };
  }

  async #apply(receipts: readonly StoredReceipt[], place: { cursor?: number; storeId?: string } = {}): Promise<void> {
    const request = { gateway: "south", receipts, ...place, now: this.now.north };
    await this.at("north").writer.execute(applyReceipts, request);
  }

  #inbound(head: WaitingMessage, recipient: number): DeliveryDraft {
    const { deliveryId: key, body = "", expiresAt, attemptEpoch, attempts } = head;
    const now = this.now.south;
    const agent = `r${String(recipient)}`;
    return makeDraft({
      deliveryId: `del_in_${key}`,
      key,
      principalScope: SCOPE,
      digest: digestOfMessage(agent, body),
      route: "peer_inbound",
      sender: { kind: "peer_agent", id: "agent:north/alice", displayName: "alice", sentBy: "" },
      recipientAgent: agent,
      recipientChat: chatOf(agent),
      body,
      attemptEpoch,
      attempt: attempts + 1,
      gateway: "south",
      expiresAt: expiryHere(expiresAt, this.now.north, now),
      now,
    });
  }

  /** South's door: a key that it knows is answered whatever the time, and nothing else after its expiry. @returns whether it is there */
  async #carry(draft: DeliveryDraft): Promise<boolean> {
    const { writer, reader } = this.at("south");
    if (readDeliveryByKey(reader, SCOPE, draft.key) === undefined && draft.expiresAt <= this.now.south) return false;
    const admission = await writer.execute(admitDelivery, { ...draft, now: this.now.south });
    if (admission.kind === "refused") throw new Error(`south refused ${draft.key}: ${admission.reason}`);
    this.#carried.push(draft);
    return true;
  }
}

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), "two-"));
}

function open(folder: string): Promise<Store> {
  return openStore({ database: join(folder, "state.db"), lockDatabase: join(folder, "lock.db") });
}
