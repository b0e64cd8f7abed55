import type { ApprovalChoice } from "../../gen/talaria/types/v1/prompt.js";
import { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import { admitTurn } from "../../owner/admission/admitTurn.js";
import type { Owner } from "../../owner/owner.js";
import { answerPrompt } from "../../owner/prompts/answerPrompt.js";
import { toPrompt } from "../../owner/prompts/promptRecord.js";
import { readTurn } from "../../owner/records/readTurn.js";
import { toSession } from "../../owner/records/toSession.js";
import { followTurn } from "../../owner/watch/followTurn.js";
import { watchSession } from "../../owner/watch/watchSession.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { implementService } from "../../rpc/harness/implementService.js";
import { defineClientStream, defineServerStream, defineUnary } from "../../rpc/harness/methods.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { formatTraceparent } from "../../rpc/traceContext.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import { findSession } from "../../store/queries/sessions.js";
import { acknowledgeUnknown } from "../../store/turns/acknowledgeUnknown.js";
import { cancelInput } from "../../store/turns/cancelInput.js";
import { executionRow } from "../../store/turns/executionRow.js";
import { listOpenPrompts } from "../../store/turns/promptRow.js";
import type { StorageGuard } from "../storage/storageGuard.js";
import { clientPrincipal } from "../edge/principal.js";
import { cutPage, createPageTokens, pageSizeOf } from "../../rpc/pageToken.js";
import {
  acknowledgeSchema,
  answerPromptSchema,
  cancelInputSchema,
  getTurnSchema,
  listPromptsSchema,
  runTurnSchema,
  stopTurnSchema,
  watchSessionSchema,
} from "./turnSchemas.js";
import { uploadAttachment } from "./uploadAttachment.js";

/** Serves turns to clients. @param storage says when the disk takes no more files */
export function createTurnService(owner: Owner, storage: Pick<StorageGuard, "problem">): ServiceImplementation {
  const { parts } = owner;
  const { store, clock, hub } = parts;
  const tokens = createPageTokens(store.homeKey);

  return implementService(TurnServiceService, {
    runTurn: defineServerStream({
      schema: runTurnSchema,
      async *handle(request, context) {
        const principal = clientPrincipal(context.principal);
        refuseWhileDraining(owner);
        const trace = context.joinTrace(request.trace?.traceparent ?? "");
        const admitted = await admitTurn(parts, {
          principal,
          requestId: request.requestId,
          target:
            request.target.$case === "sessionId"
              ? { kind: "session", sessionId: request.target.value }
              : { kind: "agent", agent: request.target.value },
          text: request.text,
          headless: request.headless,
          attachmentIds: request.attachmentIds,
          title: request.sessionTitle,
          traceparent: formatTraceparent(trace),
          tracestate: request.trace?.tracestate ?? "",
        });
        const updates = followTurn(parts, admitted, request.answersPrompts, context.signal);
        // The first step opens the watch; the turn may begin only after it.
        const first = updates.next();
        if (!admitted.replayed) {
          hub.publish(admitted.turn.sessionId, {
            $case: "inputQueued",
            value: { turn: admitted.turn, replayed: false },
          });
        }
        owner.wake([admitted.turn.sessionId]);
        const opened = await first;
        if (opened.done !== true) yield { update: opened.value };
        for await (const update of updates) yield { update };
      },
    }),

    watchSession: defineServerStream({
      schema: watchSessionSchema,
      async *handle({ sessionId, cursor, answersPrompts, snapshotRows }, context) {
        const signal = AbortSignal.any([context.signal, context.draining]);
        const mayAnswer = answersPrompts && context.principal.kind === "client" && context.principal.role !== "reader";
        const request = { sessionId, cursor, answersPrompts: mayAnswer, rows: snapshotRows };
        for await (const update of watchSession(parts, request, signal)) yield { update };
      },
    }),

    getTurn: defineUnary({
      schema: getTurnSchema,
      handle({ turn }) {
        const inputId =
          turn.$case === "inputId" ? turn.value : (executionRow(store.reader, turn.value)?.input_id ?? "");
        const found = readTurn(store.reader, inputId);
        if (found === undefined) {
          throw reasonError(turn.$case === "inputId" ? "UNKNOWN_INPUT" : "UNKNOWN_EXECUTION");
        }
        return Promise.resolve({ turn: found });
      },
    }),

    stopTurn: defineUnary({
      schema: stopTurnSchema,
      async handle({ executionId }, context) {
        clientPrincipal(context.principal);
        const turn = owner.turn(executionId);
        const stopping = turn?.stop(StopCause.STOP_CAUSE_CLIENT);
        // Whoever is told of the stop may count on it, also if the gateway dies right after.
        if ((await turn?.stopKept) === false) throw new RpcError("STORAGE_UNAVAILABLE");
        if (stopping === undefined) {
          throw reasonError(
            executionRow(store.reader, executionId) === undefined ? "UNKNOWN_EXECUTION" : "EXECUTION_ENDED",
          );
        }
        return { alreadyStopping: stopping.already, killAt: toTimestamp(stopping.killAt) };
      },
    }),

    cancelInput: defineUnary({
      schema: cancelInputSchema,
      async handle({ inputId }, context) {
        clientPrincipal(context.principal);
        const result = await store.writer.execute(cancelInput, { inputId, now: clock.now() });
        if (result.kind === "unknown_input") throw reasonError("UNKNOWN_INPUT");
        const turn = readTurn(store.reader, inputId);
        if (result.kind === "not_queued") {
          // A repeat of the call that cancelled it gets the same answer.
          if (turn?.executionId === "" && turn.endedAt !== undefined) return { turn };
          throw new RpcError("INPUT_NOT_QUEUED", { metadata: { state: result.state } });
        }
        parts.listeners.effects(result.effects);
        if (turn !== undefined) hub.publish(result.sessionId, { $case: "turnEnded", value: { turn } });
        return { turn };
      },
    }),

    listPrompts: defineUnary({
      schema: listPromptsSchema,
      handle({ sessionId, pageSize, pageToken }) {
        const list = ["prompts", sessionId];
        const place = tokens.read(list, pageToken);
        const size = pageSizeOf(pageSize);
        const rows = listOpenPrompts(store.reader, {
          sessionId,
          after: place === undefined ? undefined : { createdAt: Number(place[0]), promptId: String(place[1]) },
          limit: size + 1,
        });
        const cut = cutPage(rows, size, ({ request }) => request.length);
        return Promise.resolve({
          prompts: cut.page.map(toPrompt),
          nextPageToken: cut.last === undefined ? "" : tokens.make(list, [cut.last.created_at, cut.last.prompt_id]),
        });
      },
    }),

    answerPrompt: defineUnary({
      schema: answerPromptSchema,
      async handle({ promptId, answer }, context) {
        const by = clientPrincipal(context.principal);
        const given =
          answer.$case === "choice"
            ? { kind: "choice" as const, choice: answer.value as ApprovalChoice }
            : { kind: "text" as const, text: answer.value };
        return { prompt: await answerPrompt(owner, promptId, given, by) };
      },
    }),

    acknowledgeUnknown: defineUnary({
      schema: acknowledgeSchema,
      async handle({ sessionId, executionId }, context) {
        clientPrincipal(context.principal);
        const result = await store.writer.execute(acknowledgeUnknown, { sessionId, executionId, now: clock.now() });
        if (result.kind === "unknown_session") throw reasonError("UNKNOWN_SESSION");
        if (result.kind === "not_paused_behind") throw new RpcError("OUTCOME_NOT_UNKNOWN");
        owner.wake([sessionId]);
        owner.sessionChanged(sessionId);
        const session = findSession(store.reader, sessionId);
        return { session: session === undefined ? undefined : toSession(session) };
      },
    }),

    uploadAttachment: defineClientStream({
      handle: (requests, context) => {
        refuseWhileDraining(owner);
        const principal = clientPrincipal(context.principal);
        return uploadAttachment(owner.attachments, principal, requests, () => storage.problem());
      },
    }),
  });
}

function refuseWhileDraining(owner: Owner): void {
  if (owner.draining) throw new RpcError("DRAINING", { retryAfterMs: owner.parts.budgets.drainMs });
}
