import type { Clock } from "../../base/clock.js";
import { newId } from "../../base/ids.js";
import type { Logger } from "../../base/logger.js";
import type { Random } from "../../base/random.js";
import type { Approval, Clarify, PromptSettled } from "../../gen/talaria/owner/v1/owner_service.js";
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

  constructor(parts: PromptDeskParts) {
    this.#parts = parts;
  }

  /** Takes a prompt from the worker. A surplus one is refused to it; the turn goes on. @throws RpcError FRAME_INVALID. */
  async raise(frame: { $case: "approval"; value: Approval } | { $case: "clarify"; value: Clarify }): Promise<void> {
    const { store, clock, random, fence, sessionId, approvalMs, clarifyMs, maxOpen } = this.#parts;
    const workerPromptId = frame.value.promptId;
    if (workerPromptId === "" || workerPromptId.length > 64 || frame.value.request === undefined) {
      throw new RpcError("FRAME_INVALID", { message: "A prompt needs an id of 1 to 64 characters and a request." });
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
      request:
        frame.$case === "approval"
          ? { $case: "approval", value: frame.value.request }
          : { $case: "clarify", value: frame.value.request },
      offered: frame.$case === "approval" ? offeredChoices(frame.value.request) : [],
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
    switch (raised.kind) {
      case "raised":
        this.#opened(prompt, workerPromptId, waitMs);
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
    if (open !== undefined) this.#tellWorker(open, end, given?.answer);
    this.#show({ $case: "promptEnded", value: toPrompt(ended.prompt) });
    return true;
  }

  /** Ends every open prompt for the same cause. */
  async endAll(end: StoredPromptEnd): Promise<void> {
    await Promise.all([...this.#open.keys()].map((promptId) => this.end(promptId, end)));
  }

  /** Withdraws what is open for viewers after the execution's own end has closed it in the store. */
  executionEnded(): void {
    for (const [promptId, open] of this.#open) {
      this.#closed(promptId, open);
      this.#show({ $case: "promptEnded", value: { ...open.prompt, end: toPromptEnd("execution_ended") } });
    }
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

  #tellWorker(open: Open, end: StoredPromptEnd, answer: PromptAnswer | undefined): void {
    const promptId = open.workerPromptId;
    if (open.prompt.request?.$case === "approval") {
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
