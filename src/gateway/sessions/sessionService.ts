import { digestOf } from "../../base/digest.js";
import { newId } from "../../base/ids.js";
import type { Session } from "../../gen/talaria/gateway/v1/session.js";
import { SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import { freezePolicy } from "../../owner/policy/freezePolicy.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { implementService } from "../../rpc/harness/implementService.js";
import { defineServerStream, defineUnary } from "../../rpc/harness/methods.js";
import type { Principal } from "../../rpc/principal.js";
import { RpcError } from "../../rpc/rpcError.js";
import { familyOf, findSession, listSessions, sessionPolicy, type SessionRow } from "../../store/queries/sessions.js";
import { readTranscript, transcriptBytes } from "../../store/queries/transcript.js";
import { changeSession, type ChangeSession } from "../../store/turns/changeSession.js";
import { BOT_CHAT_TITLE } from "../../store/turns/ensureBotChat.js";
import {
  createSession,
  deleteSession,
  resetSession,
  type SessionRequest,
  type SessionRequestOutcome,
} from "../../store/turns/sessionRequests.js";
import { cutPage, createPageTokens, pageSizeOf } from "../../rpc/pageToken.js";
import { clientPrincipal } from "../edge/principal.js";
import type { GatewayContext } from "../gatewayContext.js";
import type { OwnerRoom } from "../ports.js";
import { exportSession } from "./exportSession.js";
import { sessionSchemas } from "./sessionSchemas.js";
import { toMessage } from "../../owner/records/toMessage.js";
import { fromOnUnknown, fromSessionState, toSession } from "../../owner/records/toSession.js";

/** What a reader sees where a conversation was reset. */
const RESET_TEXT = "The conversation was reset here.";

/** Makes SessionService. */
export function createSessionService(
  context: Pick<GatewayContext, "store" | "agents" | "clock" | "random" | "budgets">,
  owner: Pick<OwnerRoom, "turnsOf" | "sessionChanged">,
): ServiceImplementation {
  const { store, agents, clock, random, budgets } = context;
  const { reader, writer } = store;
  const tokens = createPageTokens(store.homeKey);

  const requireRow = (sessionId: string): SessionRow => {
    const row = findSession(reader, sessionId);
    if (row === undefined) throw new RpcError("UNKNOWN_SESSION");
    return row;
  };
  const sessionOf = (sessionId: string): Session => toSession(requireRow(sessionId), sessionPolicy(reader, sessionId));
  const requestOf = (
    principal: Principal,
    requestId: string,
    content: readonly (string | boolean)[],
  ): SessionRequest => ({
    principal: clientPrincipal(principal),
    requestId,
    digest: digestOf(content),
    now: clock.now(),
    keepMs: budgets.dedupeHorizonMs,
  });
  const change = async (what: ChangeSession): Promise<{ session: Session }> => {
    const outcome = await writer.execute(changeSession, what);
    if (outcome === "unknown") throw new RpcError("UNKNOWN_SESSION");
    if (outcome === "protected") throw new RpcError("SESSION_PROTECTED");
    owner.sessionChanged(what.sessionId);
    return { session: sessionOf(what.sessionId) };
  };

  return implementService(SessionServiceService, {
    listSessions: defineUnary({
      schema: sessionSchemas.listSessions,
      async handle({ agent, pageSize, pageToken, states, parentSessionId }) {
        const list = ["sessions", agent, parentSessionId, ...[...states].sort()];
        const size = pageSizeOf(pageSize);
        const place = tokens.read(list, pageToken);
        const rows = listSessions(reader, {
          ...(agent === "" ? {} : { agent }),
          ...(parentSessionId === "" ? {} : { parentSessionId }),
          ...(place === undefined ? {} : { after: { updatedAt: Number(place[0]), sessionId: String(place[1]) } }),
          states: states.flatMap((state) => fromSessionState(state) ?? []),
          limit: size + 1,
        });
        const { page, last } = cutPage(rows, size);
        return {
          sessions: page.map((row) => toSession(row)),
          nextPageToken: last === undefined ? "" : tokens.make(list, [last.updatedAt, last.sessionId]),
        };
      },
    }),

    getSession: defineUnary({
      schema: sessionSchemas.getSession,
      handle: async ({ sessionId }) => ({ session: sessionOf(sessionId) }),
    }),

    createSession: defineUnary({
      schema: sessionSchemas.createSession,
      async handle(request, { principal }) {
        const { requestId, agent, title, onUnknown, ignoreRules, safeMode, ignoreUserConfig } = request;
        const found = agents.require(agent);
        if (title === BOT_CHAT_TITLE) throw new RpcError("SESSION_PROTECTED", { message: "Only messages create it." });
        const choice = fromOnUnknown(onUnknown) ?? "pause";
        const outcome = await writer.execute(createSession, {
          ...requestOf(principal, requestId, [agent, title, choice, ignoreRules, safeMode, ignoreUserConfig]),
          sessionId: newId("ses", random),
          agent,
          title,
          onUnknown: choice,
          policy: encodePolicy(freezePolicy(found, { ignoreRules, safeMode, ignoreUserConfig })),
        });
        return { session: sessionOf(sessionIdOf(outcome)) };
      },
    }),

    readTranscript: defineUnary({
      schema: sessionSchemas.readTranscript,
      async handle({ sessionId, pageSize, pageToken }) {
        requireRow(sessionId);
        const list = ["transcript", sessionId];
        const size = pageSizeOf(pageSize);
        const after = Number(tokens.read(list, pageToken)?.[0] ?? 0);
        const { page, last } = cutPage(readTranscript(reader, sessionId, after, size + 1), size, transcriptBytes);
        return {
          messages: page.map(toMessage),
          nextPageToken: last === undefined ? "" : tokens.make(list, [last.row]),
        };
      },
    }),

    renameSession: defineUnary({
      schema: sessionSchemas.renameSession,
      async handle({ sessionId, title }) {
        if (title === BOT_CHAT_TITLE) throw new RpcError("SESSION_PROTECTED", { message: "That title is taken." });
        return change({ sessionId, title, now: clock.now() });
      },
    }),

    updateSession: defineUnary({
      schema: sessionSchemas.updateSession,
      async handle({ sessionId, onUnknown }) {
        const choice = fromOnUnknown(onUnknown);
        return change({ sessionId, ...(choice === undefined ? {} : { onUnknown: choice }), now: clock.now() });
      },
    }),

    resetSession: defineUnary({
      schema: sessionSchemas.resetSession,
      async handle({ requestId, sessionId }, { principal }) {
        const outcome = await writer.execute(resetSession, {
          ...requestOf(principal, requestId, [sessionId]),
          sessionId,
          policy: encodePolicy(freezePolicy(agents.require(requireRow(sessionId).agent))),
          boundary: RESET_TEXT,
        });
        sessionIdOf(outcome);
        owner.sessionChanged(sessionId);
        return { session: sessionOf(sessionId) };
      },
    }),

    exportSession: defineServerStream({
      schema: sessionSchemas.exportSession,
      handle: ({ sessionId }) => exportSession(sessionOf(sessionId), reader, owner),
    }),

    deleteSession: defineUnary({
      schema: sessionSchemas.deleteSession,
      async handle({ requestId, sessionId }, { principal, log }) {
        const family = familyOf(reader, sessionId);
        const outcome = await writer.execute(deleteSession, {
          ...requestOf(principal, requestId, [sessionId]),
          sessionId,
        });
        sessionIdOf(outcome);
        for (const one of family) owner.sessionChanged(one);
        if (!writer.truncateLog()) log.info({ sessionId }, "a reader kept the log of a deleted session for now");
        return {};
      },
    }),
  });
}

function encodePolicy(policy: Policy): Uint8Array {
  return Policy.encode(policy).finish();
}

function sessionIdOf(outcome: SessionRequestOutcome): string {
  switch (outcome.kind) {
    case "done":
      return outcome.sessionId;
    case "conflict":
      throw new RpcError("REQUEST_CONFLICT");
    case "unknown":
      throw new RpcError("UNKNOWN_SESSION");
    case "busy":
      throw new RpcError("SESSION_BUSY");
  }
}
