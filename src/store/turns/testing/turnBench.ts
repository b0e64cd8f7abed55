import { newId } from "../../../base/ids.js";
import { seededRandom } from "../../../base/testing/seededRandom.js";
import type { Store } from "../../store.js";
import { adoptExecution } from "../adoptExecution.js";
import { assignExecution } from "../assignExecution.js";
import { type Admission, type AdmissionResult, admitInput } from "../admitInput.js";
import { type ClaimResult, claimInput } from "../claimInput.js";
import { commitResult, type ResultCommit } from "../commitResult.js";
import type { StoredFence } from "../fence.js";
import { loseExecution } from "../loseExecution.js";
import type { StoredAuthor } from "../storedAuthor.js";

const random = seededRandom(20);
const author: StoredAuthor = { kind: "client", id: "client:test", displayName: "test", sentBy: "" };
const DIGEST = Buffer.alloc(32, 7);

/** A fresh id, as turns have it. */
export const fresh = {
  session: () => newId("ses", random),
  execution: () => newId("exe", random),
};

/** What tests of the turn commands say often. */
export class TurnBench {
  readonly store: Store;
  #now = 1_700_000_000_000;

  constructor(store: Store) {
    this.store = store;
  }

  /** A later time with each call, epoch milliseconds. */
  get now(): number {
    this.#now += 1;
    return this.#now;
  }

  /** Queues an input; `create` makes its session. */
  admit(
    sessionId: string,
    more: {
      readonly create?: boolean;
      readonly onUnknown?: "pause" | "continue";
      readonly requestId?: string;
      readonly principal?: string;
      readonly text?: string;
      readonly maxQueued?: number;
      readonly traceparent?: string;
    } = {},
  ): Promise<AdmissionResult> {
    const { requestId = newId("evt", random), principal = "client:test", text = "hello", maxQueued = 64 } = more;
    const now = this.now;
    const admission: Admission = {
      input: {
        inputId: newId("inp", random),
        sessionId,
        principal,
        requestScope: sessionId,
        requestId,
        digest: Buffer.from(text.padEnd(32).slice(0, 32)),
        author,
        attribution: "",
        text,
        depth: 0,
        headless: false,
        traceparent: more.traceparent ?? "",
        tracestate: "",
        now,
      },
      ...(more.create === true
        ? {
            create: {
              sessionId,
              agent: "echo",
              title: "",
              botChat: false,
              onUnknown: more.onUnknown ?? "pause",
              policy: Buffer.alloc(0),
              now,
            },
          }
        : {}),
      maxQueued,
    };
    return this.store.writer.execute(admitInput, admission);
  }

  /** Claims a session's next input. */
  claim(sessionId: string, executionId = fresh.execution()): Promise<ClaimResult> {
    return this.store.writer.execute(claimInput, { sessionId, executionId, epoch: this.store.epoch, now: this.now });
  }

  /** Brings a session's next input to a worker that has adopted it. @throws Error where nothing was claimed. */
  async run(sessionId: string): Promise<StoredFence> {
    const executionId = fresh.execution();
    const claim = await this.claim(sessionId, executionId);
    if (claim.kind !== "claimed") throw new Error(`nothing was claimed: ${claim.kind}`);
    const fence = { executionId, epoch: this.store.epoch, generation: claim.claimed.generation };
    await this.adopt(fence);
    return fence;
  }

  /** Assigns a claimed execution and adopts it. */
  async adopt(fence: StoredFence): Promise<void> {
    await this.store.writer.execute(assignExecution, {
      fence,
      epoch: this.store.epoch,
      launchId: "lau_test",
      adoptionDigest: DIGEST,
      evidence: "{}",
    });
    await this.store.writer.execute(adoptExecution, { fence, epoch: this.store.epoch, adoptionDigest: DIGEST });
  }

  /** Queues the commit of a result. */
  result(fence: StoredFence, more: Partial<ResultCommit> = {}) {
    return this.store.writer.execute(commitResult, {
      fence,
      epoch: this.store.epoch,
      outcome: "completed",
      result: Buffer.alloc(0),
      answer: "answer",
      usage: {
        inputTokens: 1,
        outputTokens: 2,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        apiCalls: 1,
        costUsd: 0,
      },
      author,
      now: this.now,
      ...more,
    });
  }

  /** Queues the settlement of a loss. */
  lose(executionId: string, outcome: "failed" | "unknown" | "interrupted") {
    const failure = { reason: "WORKER_LOST", message: "lost", hint: "", retryable: true };
    return this.store.writer.execute(loseExecution, { executionId, outcome, failure, now: this.now });
  }
}
