import type { Clock } from "../../base/clock.js";
import { newId } from "../../base/ids.js";
import type { Logger } from "../../base/logger.js";
import type { Random } from "../../base/random.js";
import type { PromptSettled } from "../../gen/talaria/owner/v1/owner_service.js";
import { ApprovalChoice, Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { reasonNumber } from "../../rpc/reasonNumber.js";
import { RpcError } from "../../rpc/rpcError.js";
import { toOptionalTimestamp, toTimestamp } from "../../rpc/wire/times.js";
import type { StoredPromptEnd } from "../../store/turns/endPrompt.js";
import { endPrompt } from "../../store/turns/endPrompt.js";
import type { StoredFence } from "../../store/turns/fence.js";
import { raisePrompt } from "../../store/turns/raisePrompt.js";
import type { Store } from "../../store/store.js";
import type { OwnerFrame } from "../attach/workerLink.js";
import { persistently } from "../turn/persistently.js";
import type { SessionChange, SessionHub } from "../watch/sessionHub.js";
import { checkedRequest, type RaisedPrompt } from "./checkedRequest.js";
import { offeredChoices } from "./offeredChoices.js";
import { fromWorkerEnd, toPrompt, toPromptEnd } from "./promptRecord.js";

/** What a desk works with. */
export interface PromptDeskParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: Random;
  readonly hub: SessionHub;
  readonly sessionId: string;
  /** Sessions whose viewers see the prompts, its own among them. */
  readonly shownIn: readonly string[];
  readonly agent: string;
  readonly fence: StoredFence;
  /** Milliseconds. */
  readonly approvalMs: number;
  /** Milliseconds; 0 = without limit. */
  readonly clarifyMs: number;
  readonly maxOpen: number;
  /** Whether a lasting approval is stored as a grant of the agent. */
  readonly lastingGrants: boolean;
  readonly send: (frame: OwnerFrame) => void;
  /** Told how many prompts are open whenever that changes. */
  readonly onOpen: (count: number) => void;
  /** Told of a prompt that waits for a person. */
  readonly onWaiting: (promptId: string) => void;
}

interface Open {
  readonly prompt: Prompt;
  readonly workerPromptId: string;
  readonly cancelExpiry: () => void;
}

/** A person's answer, checked against the prompt's kind and offer. */
export type PromptAnswer =
  | { readonly kind: "choice"; readonly name: string; readonly choice: ApprovalChoice }
  | { readonly kind: "text"; readonly text: string };

/** The open prompts of one execution. Both kinds share one counter, and every end frees its slot in the commit that records it. */
export class PromptDesk {
  readonly #parts: PromptDeskParts;
  readonly #open = new Map<string, Open>();
  #closedFor: "stopped" | "headless" | undefined;

  constructor(parts: PromptDeskParts) {
    this.#parts = parts;
  }

  /**
   * Takes a prompt from the worker. A surplus one is refused to it, one that nobody is to be asked is answered at once; the turn goes on.
   * @throws RpcError FRAME_INVALID.
   */
  async raise(frame: RaisedPrompt): Promise<void> {
    const { store, clock, random, fence, sessionId, approvalMs, clarifyMs, maxOpen } = this.#parts;
    const request = checkedRequest(frame);
    const workerPromptId = frame.value.promptId;
    const unasked = this.#endForAll();
    if (unasked !== undefined) {
      this.#tellWorker(request.$case, workerPromptId, unasked, undefined);
      return;
    }
    const now = clock.now();
    const waitMs = frame.$case === "approval" ? approvalMs : clarifyMs;
    const expiresAt = waitMs === 0 ? undefined : now + waitMs;
    const prompt = Prompt.fromPartial({
      promptId: newId("prm", random),
      sessionId,
      executionId: fence.executionId,
      createdAt: toTimestamp(now),
      expiresAt: toOptionalTimestamp(expiresAt),
      request,
      offered: request.$case === "approval" ? offeredChoices(request.value) : [],
    });
    const raised = await store.writer.execute(raisePrompt, {
      promptId: prompt.promptId,
      fence,
      epoch: store.epoch,
      workerPromptId,
      request: Prompt.encode(prompt).finish(),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      maxOpen,
      now,
    });
    // It may have come while this one was on its way to the store.
    const end = this.#endForAll();
    switch (raised.kind) {
      case "raised":
        this.#opened(prompt, workerPromptId, waitMs);
        if (end !== undefined) await this.end(prompt.promptId, end);
        return;
      case "limit":
        this.#refuse(workerPromptId, "PROMPT_LIMIT");
        return;
      case "duplicate":
        throw new RpcError("FRAME_INVALID", { message: "A prompt id was used before in this execution." });
      case "stale":
        this.#refuse(workerPromptId, "EXECUTION_ENDED");
    }
  }

  /** Number of open prompts. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Whether a prompt is open here. */
  has(promptId: string): boolean {
    return this.#open.has(promptId);
  }

  /** The open prompt that the worker raised under this id. */
  openUnder(workerPromptId: string): string | undefined {
    for (const [promptId, open] of this.#open) if (open.workerPromptId === workerPromptId) return promptId;
    return undefined;
  }

  /** Ends the prompt that the worker says it no longer waits for. @throws RpcError FRAME_INVALID for an end that is not its to report. */
  async settledByWorker({ promptId: workerPromptId, end }: PromptSettled): Promise<void> {
    const stored = fromWorkerEnd(end);
    if (stored === undefined)
      throw new RpcError("FRAME_INVALID", { message: "A worker cannot end a prompt that way." });
    const promptId = this.openUnder(workerPromptId);
    if (promptId !== undefined) await this.end(promptId, stored);
  }

  /** Ends a prompt and tells the worker and every viewer. False where it had ended before. */
  async end(
    promptId: string,
    end: StoredPromptEnd,
    given?: { readonly answer: PromptAnswer; readonly by: string },
  ): Promise<boolean> {
    const { store, clock, random, agent, lastingGrants } = this.#parts;
    const open = this.#open.get(promptId);
    const request = open?.prompt.request;
    const lasting =
      given?.answer.kind === "choice" && given.answer.choice === ApprovalChoice.APPROVAL_CHOICE_ALWAYS && lastingGrants;
    const ended = await store.writer.execute(endPrompt, {
      promptId,
      end,
      ...(given === undefined
        ? {}
        : { answer: given.answer.kind === "choice" ? given.answer.name : given.answer.text, answeredBy: given.by }),
      ...(lasting && request?.$case === "approval"
        ? { grant: { grantId: newId("evt", random), agent, command: request.value.command } }
        : {}),
      now: clock.now(),
    });
    if (open !== undefined) this.#closed(promptId, open);
    if (ended.kind !== "ended") return false;
    if (open !== undefined) {
      this.#tellWorker(open.prompt.request?.$case, open.workerPromptId, end, given?.answer);
    }
    this.#show({ $case: "promptEnded", value: toPrompt(ended.prompt) });
    return true;
  }

  /** Asks nobody any more: every open prompt, and each that is still to come, ends for this cause. */
  async close(end: "stopped" | "headless"): Promise<void> {
    this.#closedFor = end;
    await Promise.all([...this.#open.keys()].map((promptId) => this.end(promptId, end)));
  }

  /** Withdraws what is open for viewers after the execution's own end has closed it in the store. */
  executionEnded(): void {
    for (const [promptId, open] of this.#open) {
      this.#closed(promptId, open);
      this.#show({ $case: "promptEnded", value: { ...open.prompt, end: toPromptEnd("execution_ended") } });
    }
  }

  /** How each prompt ends from here on; undefined while people are asked. */
  #endForAll(): "stopped" | "headless" | undefined {
    return this.#closedFor;
  }

  #opened(prompt: Prompt, workerPromptId: string, waitMs: number): void {
    const { clock, onOpen, onWaiting } = this.#parts;
    const cancelExpiry = waitMs === 0 ? () => undefined : clock.after(waitMs, () => void this.#expire(prompt.promptId));
    this.#open.set(prompt.promptId, { prompt, workerPromptId, cancelExpiry });
    onOpen(this.#open.size);
    this.#show({ $case: "promptRaised", value: prompt });
    onWaiting(prompt.promptId);
  }

  async #expire(promptId: string): Promise<void> {
    const { clock, log } = this.#parts;
    try {
      await persistently(clock, log, () => this.end(promptId, "expired"));
    } catch (error) {
      log.error({ err: error, prompt: promptId }, "an expired prompt could not be ended");
    }
  }

  #show(change: SessionChange): void {
    for (const sessionId of this.#parts.shownIn) this.#parts.hub.publish(sessionId, change);
  }

  #closed(promptId: string, open: Open): void {
    open.cancelExpiry();
    if (this.#open.delete(promptId)) this.#parts.onOpen(this.#open.size);
  }

  #tellWorker(
    kind: RaisedPrompt["$case"] | undefined,
    promptId: string,
    end: StoredPromptEnd,
    answer: PromptAnswer | undefined,
  ): void {
    if (kind === "approval") {
      const choice = answer?.kind === "choice" ? answer.choice : ApprovalChoice.APPROVAL_CHOICE_DENY;
      this.#parts.send({ $case: "approvalAnswer", value: { promptId, choice, end: toPromptEnd(end) } });
    } else {
      const text = answer?.kind === "text" ? answer.text : "";
      this.#parts.send({ $case: "clarifyAnswer", value: { promptId, text, end: toPromptEnd(end) } });
    }
  }

  #refuse(promptId: string, reason: "PROMPT_LIMIT" | "EXECUTION_ENDED"): void {
    this.#parts.send({ $case: "promptRefused", value: { promptId, reason: reasonNumber(reason) } });
  }
}
