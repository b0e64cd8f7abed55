import { setMaxListeners } from "node:events";

import type { Delivery } from "../gen/talaria/dm/v1/delivery.js";
import { DeliveryState } from "../gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceService, type WatchEventsResponse } from "../gen/talaria/gateway/v1/admin_service.js";
import { type Agent, AgentServiceService } from "../gen/talaria/gateway/v1/agent_service.js";
import type { Session } from "../gen/talaria/gateway/v1/session.js";
import { ListSessionsRequest, SessionServiceService } from "../gen/talaria/gateway/v1/session_service.js";
import {
  type AnswerPromptRequest,
  RunTurnRequest,
  type SessionUpdate,
  type Turn,
  TurnServiceService,
} from "../gen/talaria/gateway/v1/turn_service.js";
import type { Cursor } from "../gen/talaria/types/v1/cursor.js";
import type { Prompt } from "../gen/talaria/types/v1/prompt.js";
import { TurnOutcome } from "../gen/talaria/types/v1/result.js";
import { pages } from "../rpc/clients/pages.js";
import { RpcError } from "../rpc/rpcError.js";
import { openConnection, type TalariaClientOptions, type TalariaConnection } from "./talariaClient.js";
import { deliveryError, turnError } from "./turnError.js";
import { createTurnReader, type TurnStep } from "./turnSteps.js";
import { wholeAnswer } from "./wholeAnswer.js";

/** An input. */
export interface TurnInput {
  /** An agent, whose session is made for it; or `sessionId`. */
  readonly agent?: string;
  /** A session in which the turn goes on. */
  readonly sessionId?: string;
  readonly text: string;
  /** Repeats an earlier input with its key: the turn runs once. Default: a fresh key. */
  readonly requestId?: string;
  /** Title of a session that is made. */
  readonly title?: string;
  /** Whether this client answers prompts; default false, and then the agent is told that nobody does. */
  readonly answersPrompts?: boolean;
}

/** A direct message. */
export interface MessageInput {
  /** `<agent>`, `<peer>` or `<peer>/<agent>`. */
  readonly target: string;
  readonly body: string;
  /** Repeats an earlier message with its key: it is sent once. Default: a fresh key. */
  readonly requestId?: string;
  /** The delivery that this answers. */
  readonly inReplyTo?: string;
  /** An agent in whose name it is sent; operators only. */
  readonly onBehalfOf?: string;
}

/** Ends a call, a turn's stream or a watch; never the turn itself. */
export interface Abortable {
  readonly signal?: AbortSignal;
}

/** Where a watch resumes. */
export interface WatchOptions extends Abortable {
  /** After this change; default: from here on, with a snapshot where there is one. */
  readonly cursor?: Cursor;
}

/** An answer to a prompt: a choice for an approval, text for a question. */
export type PromptAnswer = NonNullable<AnswerPromptRequest["answer"]>;

/** A gateway, for programs. Everything it throws is an {@link RpcError} with a reason of the registry. */
export interface Talaria extends Pick<TalariaConnection, "call" | "stream" | "newRequestId" | "close"> {
  /**
   * Runs a turn and yields what happens in it, up to its outcome, over broken connections and restarts of the gateway. Leaving the
   * loop does not stop the turn.
   */
  runTurn(input: TurnInput, options?: Abortable): AsyncGenerator<TurnStep, void, undefined>;
  /** Runs a turn to its end. @returns the turn @throws RpcError with the turn's reason where it did not complete. */
  ask(input: TurnInput, options?: Abortable): Promise<Turn>;
  /** The whole answer of a turn that has ended, also where it is too long for its receipt. */
  answerOf(turn: Turn, options?: Abortable): Promise<string>;
  /** Stops an execution. */
  stopTurn(executionId: string, options?: Abortable): Promise<void>;
  /** Answers a prompt. */
  answerPrompt(promptId: string, answer: PromptAnswer, options?: Abortable): Promise<Prompt | undefined>;
  /** Follows a session without end; begins with a snapshot, and again with one after a gap. */
  watchSession(
    sessionId: string,
    options?: WatchOptions & { readonly answersPrompts?: boolean; readonly snapshotRows?: number },
  ): AsyncGenerator<SessionUpdate, void, undefined>;
  /** Follows what an operator should know of, without end. */
  watchEvents(options?: WatchOptions): AsyncGenerator<WatchEventsResponse, void, undefined>;
  /** Sends a direct message; resolves when it is on the gateway's disk. */
  sendMessage(message: MessageInput, options?: Abortable): Promise<Delivery>;
  /** Follows a delivery: as it is, then each change, up to its end. */
  watchDelivery(deliveryId: string, options?: WatchOptions): AsyncGenerator<Delivery, void, undefined>;
  /** Waits for the end of a delivery. @throws RpcError with its reason where it ended otherwise than replied or silent. */
  waitForReply(deliveryId: string, options?: Abortable): Promise<Delivery>;
  /** Every agent. */
  agents(options?: Abortable): AsyncGenerator<Agent, void, undefined>;
  /** Every session, the last changed first. */
  sessions(options?: Abortable & { readonly agent?: string }): AsyncGenerator<Session, void, undefined>;
  /** Every open prompt, oldest first. */
  prompts(options?: Abortable & { readonly sessionId?: string }): AsyncGenerator<Prompt, void, undefined>;
}

const never = new AbortController().signal;
// Every call may listen to it; the default would warn of a leak from the eleventh on.
setMaxListeners(0, never);
const PAGE = 100;

/** Makes a client of a gateway. It connects at its first call. @throws RpcError as {@link openConnection}. */
export function connectTalaria(options: TalariaClientOptions): Talaria {
  const connection = openConnection(options);
  const { call, stream, follow, newRequestId } = connection;

  async function* runTurn(input: TurnInput, { signal = never }: Abortable = {}) {
    const request = turnRequest(input, input.requestId ?? newRequestId());
    const reader = createTurnReader();
    const updates = follow(
      {
        open: () => stream(TurnServiceService.runTurn, request, { signal }),
        seen: () => undefined,
        isLast: ({ update }) => update?.update?.$case === "turnEnded",
        broke: () => {
          reader.reopened();
        },
      },
      signal,
    );
    for await (const { update } of updates) if (update !== undefined) yield* reader.read(update);
  }

  async function* watchSession(sessionId: string, given: Parameters<Talaria["watchSession"]>[1] = {}) {
    const { signal = never, answersPrompts = false, snapshotRows = 0 } = given;
    let { cursor } = given;
    const updates = follow(
      {
        open: () =>
          stream(TurnServiceService.watchSession, { sessionId, cursor, answersPrompts, snapshotRows }, { signal }),
        seen: ({ update }) => (cursor = update?.cursor ?? cursor),
        isLast: ({ update }) => update?.update?.$case === "sessionDeleted",
      },
      signal,
    );
    for await (const { update } of updates) if (update !== undefined) yield update;
  }

  async function* watchEvents({ signal = never, cursor: from }: WatchOptions = {}) {
    let cursor = from;
    yield* follow(
      {
        open: () => stream(AdminServiceService.watchEvents, { cursor }, { signal }),
        seen: (event) => (cursor = event.cursor ?? cursor),
        isLast: () => false,
      },
      signal,
    );
  }

  async function* watchDelivery(deliveryId: string, { signal = never, cursor: from }: WatchOptions = {}) {
    let cursor = from;
    const changes = follow(
      {
        open: () => stream(DirectMessageServiceService.watchDelivery, { deliveryId, cursor }, { signal }),
        seen: (change) => (cursor = change.cursor ?? cursor),
        isLast: ({ delivery }) => delivery !== undefined && hasEnded(delivery.state),
      },
      signal,
    );
    for await (const { delivery } of changes) if (delivery !== undefined) yield delivery;
  }

  return {
    ...connection,
    runTurn,
    watchSession,
    watchEvents,
    watchDelivery,
    async ask(input, given) {
      for await (const step of runTurn(input, given)) {
        if (step.kind !== "ended") continue;
        if (step.turn.outcome === TurnOutcome.TURN_OUTCOME_COMPLETED) return step.turn;
        throw turnError(step.turn);
      }
      throw new RpcError("UNKNOWN_ERROR", { message: "The turn's stream ended before its outcome." });
    },
    answerOf: (turn, { signal } = {}) => wholeAnswer(connection, turn, signal),
    async stopTurn(executionId, given) {
      await call(TurnServiceService.stopTurn, { requestId: newRequestId(), executionId }, given);
    },
    async answerPrompt(promptId, answer, given) {
      const request = { requestId: newRequestId(), promptId, answer };
      return (await call(TurnServiceService.answerPrompt, request, given)).prompt;
    },
    async sendMessage({ target, body, requestId = newRequestId(), inReplyTo = "", onBehalfOf = "" }, given) {
      const request = { requestId, target, body, inReplyTo, onBehalfOf, trace: undefined };
      const { delivery } = await call(DirectMessageServiceService.sendDirectMessage, request, given);
      if (delivery === undefined) throw new RpcError("MALFORMED_MESSAGE");
      return delivery;
    },
    async waitForReply(deliveryId, given) {
      for await (const delivery of watchDelivery(deliveryId, given)) {
        if (!hasEnded(delivery.state)) continue;
        const { DELIVERY_STATE_REPLIED: replied, DELIVERY_STATE_SILENT: silent } = DeliveryState;
        if (delivery.state === replied || delivery.state === silent) return delivery;
        throw deliveryError(delivery);
      }
      throw new RpcError("UNKNOWN_ERROR", { message: "The watch ended before the delivery." });
    },
    async *agents(given) {
      const read = (pageToken: string) => call(AgentServiceService.listAgents, { pageSize: PAGE, pageToken }, given);
      for await (const page of pages(read)) yield* page.agents;
    },
    async *sessions({ agent = "", ...given } = {}) {
      const read = (pageToken: string) => {
        const request = ListSessionsRequest.fromPartial({ agent, pageSize: PAGE, pageToken });
        return call(SessionServiceService.listSessions, request, given);
      };
      for await (const page of pages(read)) yield* page.sessions;
    },
    async *prompts({ sessionId = "", ...given } = {}) {
      const read = (pageToken: string) =>
        call(TurnServiceService.listPrompts, { sessionId, pageSize: PAGE, pageToken }, given);
      for await (const page of pages(read)) yield* page.prompts;
    },
  };
}

function turnRequest(input: TurnInput, requestId: string): RunTurnRequest {
  const { agent, sessionId, text, title = "", answersPrompts = false } = input;
  if ((agent === undefined) === (sessionId === undefined)) {
    throw new RpcError("INVALID_FIELD", { message: "An input goes to an agent or to a session." });
  }
  return RunTurnRequest.fromPartial({
    requestId,
    target: agent === undefined ? { $case: "sessionId", value: sessionId ?? "" } : { $case: "agent", value: agent },
    text,
    headless: !answersPrompts,
    sessionTitle: title,
    answersPrompts,
  });
}

function hasEnded(state: DeliveryState): boolean {
  const { DELIVERY_STATE_UNSPECIFIED, DELIVERY_STATE_QUEUED, DELIVERY_STATE_CLAIMED } = DeliveryState;
  return state !== DELIVERY_STATE_UNSPECIFIED && state !== DELIVERY_STATE_QUEUED && state !== DELIVERY_STATE_CLAIMED;
}
