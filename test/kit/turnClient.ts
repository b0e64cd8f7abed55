import type { Client } from "@grpc/grpc-js";
import { randomUUID } from "node:crypto";

import {
  type RunTurnRequest,
  type SessionUpdate,
  type Turn,
  TurnServiceService,
  type WatchSessionRequest,
  type TurnPhase,
} from "../../src/gen/talaria/gateway/v1/turn_service.js";
import type { Session } from "../../src/gen/talaria/gateway/v1/session.js";
import type { ApprovalChoice, Prompt } from "../../src/gen/talaria/types/v1/prompt.js";
import { DeltaChannel } from "../../src/gen/talaria/types/v1/event.js";
import { TurnOutcome } from "../../src/gen/talaria/types/v1/result.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { readStream, type ResponseStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { reasonOfNumber } from "../../src/rpc/reasons.js";
import { StreamLog } from "./streamLog.js";

type Update = NonNullable<SessionUpdate["update"]>;
type ValueOf<K extends Update["$case"]> = Extract<Update, { $case: K }>["value"];

/** What a session's or a turn's stream has told, to be waited for. */
export class UpdateLog extends StreamLog<SessionUpdate> {
  readonly #stream: ResponseStream<{ update: SessionUpdate | undefined }>;

  constructor(stream: ResponseStream<{ update: SessionUpdate | undefined }>) {
    super(({ update }) => (update?.$case === "phaseChanged" ? `phase ${String(update.value.phase)}` : update?.$case));
    this.#stream = stream;
    this.follow(updatesOf(stream));
  }

  /** Leaves the stream. */
  cancel(): void {
    this.#stream.cancel();
  }

  /** The kinds of what has come, in order. */
  get kinds(): readonly string[] {
    return this.items.map(({ update }) => update?.$case ?? "unknown");
  }

  /** The answer text streamed so far. */
  get text(): string {
    return this.items
      .flatMap(({ update }) => (update?.$case === "events" ? update.value.events : []))
      .map(({ event }) =>
        event?.$case === "delta" && event.value.channel !== DeltaChannel.DELTA_CHANNEL_REASONING
          ? event.value.text
          : "",
      )
      .join("");
  }

  /** Waits for the first update of a kind, of those after the first `after`. */
  async next<K extends Update["$case"]>(kind: K, after = 0): Promise<ValueOf<K>> {
    const found = await this.first(`update ${kind}`, ({ update }) => update?.$case === kind, after);
    return found.update?.value as ValueOf<K>;
  }

  /** Waits for a turn to start. @returns its execution's id. */
  async started(after = 0): Promise<string> {
    return (await this.next("turnStarted", after)).turn?.executionId ?? "";
  }

  /** Waits until the owner has seen the worker in a phase. A worker that is ready is running only then. */
  async reached(phase: TurnPhase): Promise<void> {
    await this.first(
      `phase ${String(phase)}`,
      ({ update }) => update?.$case === "phaseChanged" && update.value.phase === phase,
    );
  }

  /** Waits until this text has been streamed. */
  async saw(text: string): Promise<void> {
    await this.until(`text ${text}`, () => (this.text.includes(text) ? true : undefined));
  }

  /** Waits for a turn's outcome. */
  async outcome(after = 0): Promise<Ended> {
    return describeTurn((await this.next("turnEnded", after)).turn);
  }
}

/** How a turn ended, in words. */
export interface Ended {
  readonly outcome: string;
  /** Name of its failure's reason; empty for none. */
  readonly reason: string;
  readonly message: string;
  readonly answer: string;
  readonly turn: Turn;
}

/** A turn in words. @throws Error where there is none. */
export function describeTurn(turn: Turn | undefined): Ended {
  if (turn === undefined) throw new Error("there is no turn");
  const [outcome = "?"] = Object.entries(TurnOutcome).find(([, number]) => number === turn.outcome) ?? [];
  return {
    outcome: outcome.replace("TURN_OUTCOME_", ""),
    reason: reasonOfNumber(turn.failure?.reason ?? 0) ?? "",
    message: turn.failure?.message ?? "",
    answer: turn.result?.finalResponse ?? "",
    turn,
  };
}

/** A client of a gateway as tests use it. */
export class TurnClient {
  readonly client: Client;

  constructor(address: string) {
    this.client = createClient({ address, purpose: "unix", ownConnection: true });
  }

  /** Runs a turn of an agent in a session of its own. */
  run(agent: string, text: string, more: Partial<RunTurnRequest> = {}): UpdateLog {
    return this.request({ target: { $case: "agent", value: agent }, text, ...more });
  }

  /** Runs a turn in a session. */
  say(sessionId: string, text: string, more: Partial<RunTurnRequest> = {}): UpdateLog {
    return this.request({ target: { $case: "sessionId", value: sessionId }, text, ...more });
  }

  /** Calls RunTurn. */
  request(more: Partial<RunTurnRequest>): UpdateLog {
    const request: RunTurnRequest = {
      requestId: randomUUID(),
      target: undefined,
      text: "",
      attachmentIds: [],
      headless: false,
      sessionTitle: "",
      trace: undefined,
      answersPrompts: true,
      ...more,
    };
    return new UpdateLog(readStream(this.client, TurnServiceService.runTurn, request));
  }

  /** Calls WatchSession. */
  watch(sessionId: string, more: Partial<WatchSessionRequest> = {}): UpdateLog {
    const request = { sessionId, cursor: undefined, answersPrompts: false, snapshotRows: 50, ...more };
    return new UpdateLog(readStream(this.client, TurnServiceService.watchSession, request));
  }

  /** Reads a turn by its input. */
  async turn(inputId: string): Promise<Ended> {
    const { turn } = await unaryCall(this.client, TurnServiceService.getTurn, {
      turn: { $case: "inputId", value: inputId },
    });
    return describeTurn(turn);
  }

  /** Stops an execution. */
  stop(executionId: string): Promise<{ readonly alreadyStopping: boolean }> {
    return unaryCall(this.client, TurnServiceService.stopTurn, { requestId: randomUUID(), executionId });
  }

  /** Withdraws a queued input. */
  async cancelInput(inputId: string): Promise<Ended> {
    const { turn } = await unaryCall(this.client, TurnServiceService.cancelInput, {
      requestId: randomUUID(),
      inputId,
    });
    return describeTurn(turn);
  }

  /** Answers an approval. */
  async choose(promptId: string, choice: ApprovalChoice): Promise<Prompt | undefined> {
    return this.#answer(promptId, { $case: "choice", value: choice });
  }

  /** Answers a question. */
  async reply(promptId: string, text: string): Promise<Prompt | undefined> {
    return this.#answer(promptId, { $case: "text", value: text });
  }

  /** The open prompts of a session. */
  async prompts(sessionId: string): Promise<readonly Prompt[]> {
    const request = { sessionId, pageSize: 0, pageToken: "" };
    return (await unaryCall(this.client, TurnServiceService.listPrompts, request)).prompts;
  }

  /** Lets a session go on behind an unknown outcome. */
  async acknowledge(sessionId: string, executionId: string): Promise<Session | undefined> {
    const request = { requestId: randomUUID(), sessionId, executionId };
    return (await unaryCall(this.client, TurnServiceService.acknowledgeUnknown, request)).session;
  }

  /** Closes the connection. */
  close(): void {
    this.client.close();
  }

  async #answer(
    promptId: string,
    answer: { $case: "choice"; value: ApprovalChoice } | { $case: "text"; value: string },
  ): Promise<Prompt | undefined> {
    const request = { requestId: randomUUID(), promptId, answer };
    return (await unaryCall(this.client, TurnServiceService.answerPrompt, request)).prompt;
  }
}

/** The session that a turn's stream is about. */
export async function sessionOf(log: UpdateLog): Promise<string> {
  return (await log.next("inputQueued")).turn?.sessionId ?? "";
}

/** The reason that a call or stream was refused with. @throws Error where it was not. */
export async function refusalOf(call: Promise<unknown> | UpdateLog): Promise<string> {
  if (call instanceof StreamLog) return reasonOf(await call.ended());
  try {
    await call;
  } catch (caught) {
    return reasonOf(caught);
  }
  throw new Error("the call was not refused");
}

function reasonOf(caught: unknown): string {
  if (caught instanceof Error && "reason" in caught) return String(caught.reason);
  throw new Error("there was no refusal", { cause: caught });
}

async function* updatesOf(stream: AsyncIterable<{ update: SessionUpdate | undefined }>): AsyncGenerator<SessionUpdate> {
  for await (const { update } of stream) if (update !== undefined) yield update;
}
