import type { Tx } from "../sql.js";
import { ensureBotChat } from "../turns/ensureBotChat.js";
import type { BotChatDraft } from "./deliveryDraft.js";
import { nextCounter } from "./nextCounter.js";

/** What is queued in the home. */
export interface HomeLoad {
  /** Messages that wait. */
  queued: number;
  /** Bytes of bodies that are kept. */
  bodyBytes: number;
}

/**
 * What the admissions of one command share: it is read once and written once, however many messages the command admits. Nobody else
 * writes meanwhile, so what was read stays true but for what is noted here. To be ended with {@link finish}.
 */
export class AdmissionBatch {
  readonly #tx: Tx;
  readonly #now: number;
  readonly #chats = new Map<string, string>();
  readonly #waiting = new Map<string, number>();
  readonly #waitingFrom = new Map<string, number>();
  readonly #touched = new Map<string, number>();
  #load: HomeLoad | undefined;
  #left: number;
  #nextPlace: number | undefined;
  #inputs = 0;
  #deliveries = 0;
  #deliveryBytes = 0;

  /** @param size messages that may be admitted. @param now epoch milliseconds */
  constructor(tx: Tx, size: number, now: number) {
    this.#tx = tx;
    this.#left = size;
    this.#now = now;
  }

  /** The next place of a lane. The first call takes those of the whole batch; what is not used in the end stays a gap. */
  takePlace(): number {
    if (this.#nextPlace === undefined || this.#left === 0) {
      this.#left = Math.max(1, this.#left);
      this.#nextPlace = nextCounter(this.#tx, "lane", this.#left) - this.#left + 1;
    }
    const place = this.#nextPlace;
    this.#left -= 1;
    this.#nextPlace = place + 1;
    return place;
  }

  /** The id of an agent's `Bot Chat`, which is created if it is missing. */
  chatOf(chat: BotChatDraft): string {
    const known = this.#chats.get(chat.agent);
    if (known !== undefined) return known;
    const sessionId = ensureBotChat(this.#tx, { ...chat, now: this.#now });
    this.#chats.set(chat.agent, sessionId);
    return sessionId;
  }

  /** Messages that wait for a recipient. */
  waitingFor(gateway: string, agent: string): number {
    const recipient = `${gateway}/${agent}`;
    const known = this.#waiting.get(recipient);
    if (known !== undefined) return known;
    const count = this.#load === undefined ? this.#readLoad(gateway, agent) : this.#countWaiting(gateway, agent);
    this.#waiting.set(recipient, count);
    return count;
  }

  /** Messages of one author that wait for a recipient. */
  waitingFrom(authorId: string, gateway: string, agent: string): number {
    const place = `${authorId} ${gateway}/${agent}`;
    const known = this.#waitingFrom.get(place);
    if (known !== undefined) return known;
    const row = this.#tx.get<{ count: number }>(
      `SELECT COUNT(*) AS count FROM deliveries
       WHERE recipient_gateway = ? AND recipient_agent = ? AND author_id = ? AND state = 'queued'`,
      gateway,
      agent,
      authorId,
    );
    const count = row?.count ?? 0;
    this.#waitingFrom.set(place, count);
    return count;
  }

  /** What is queued in the home. To be asked for after {@link waitingFor}. */
  load(): Readonly<HomeLoad> {
    if (this.#load === undefined) throw new Error("nothing was counted yet");
    return this.#load;
  }

  /** Says that the row of a queued delivery was written: the totals count it in {@link finish}. */
  noteQueued(authorId: string, gateway: string, agent: string, bodyBytes: number): void {
    this.#waiting.set(`${gateway}/${agent}`, this.waitingFor(gateway, agent) + 1);
    const from = `${authorId} ${gateway}/${agent}`;
    const counted = this.#waitingFrom.get(from);
    if (counted !== undefined) this.#waitingFrom.set(from, counted + 1);
    const { queued, bodyBytes: kept } = this.load();
    this.#load = { queued: queued + 1, bodyBytes: kept + bodyBytes };
    this.#deliveries += 1;
    this.#deliveryBytes += bodyBytes;
  }

  /** Says that an input row was written for a session. */
  noteInput(sessionId: string): void {
    this.#inputs += 1;
    this.#touched.set(sessionId, (this.#touched.get(sessionId) ?? 0) + 1);
  }

  /** Forgets what was counted: something else has changed deliveries. */
  forgetCounts(): void {
    this.#countDeliveries();
    this.#waiting.clear();
    this.#waitingFrom.clear();
    this.#load = undefined;
  }

  #countDeliveries(): void {
    if (this.#deliveries === 0) return;
    this.#tx.run(
      `UPDATE delivery_totals SET accepted = accepted + ?1, queued = queued + ?1, body_bytes = body_bytes + ?2 WHERE one = 1`,
      this.#deliveries,
      this.#deliveryBytes,
    );
    this.#deliveries = 0;
    this.#deliveryBytes = 0;
  }

  #countWaiting(gateway: string, agent: string): number {
    const row = this.#tx.get<{ count: number }>(
      "SELECT COUNT(*) AS count FROM deliveries WHERE recipient_gateway = ? AND recipient_agent = ? AND state = 'queued'",
      gateway,
      agent,
    );
    return row?.count ?? 0;
  }

  /** Reads the home's load with the first recipient's in one look: most commands admit one message. */
  #readLoad(gateway: string, agent: string): number {
    const row = this.#tx.get<HomeLoad & { waiting: number }>(
      `SELECT queued, body_bytes AS bodyBytes,
         (SELECT COUNT(*) FROM deliveries WHERE recipient_gateway = ? AND recipient_agent = ? AND state = 'queued') AS waiting
       FROM delivery_totals WHERE one = 1`,
      gateway,
      agent,
    );
    if (row === undefined) throw new Error("the totals are missing");
    const { queued, bodyBytes, waiting } = row;
    this.#load = { queued, bodyBytes };
    return waiting;
  }

  /** Writes down what was noted. */
  finish(): void {
    this.#countDeliveries();
    if (this.#inputs > 0) this.#tx.run("UPDATE turn_totals SET admitted = admitted + ? WHERE one = 1", this.#inputs);
    for (const [sessionId, times] of this.#touched) {
      this.#tx.run(
        "UPDATE sessions SET revision = revision + ?, updated_at = ? WHERE session_id = ?",
        times,
        this.#now,
        sessionId,
      );
    }
  }
}
