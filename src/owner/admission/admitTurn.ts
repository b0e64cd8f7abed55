import { digestOf } from "../../base/digest.js";
import { newId } from "../../base/ids.js";
import { QUOTAS } from "../../base/limits.js";
import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { agentOfSession } from "../../store/queries/sessions.js";
import { admitInput } from "../../store/turns/admitInput.js";
import { BOT_CHAT_TITLE } from "../../store/turns/ensureBotChat.js";
import { freezePolicy } from "../policy/freezePolicy.js";
import { clientAuthor } from "../records/clientAuthor.js";
import { readTurn } from "../records/readTurn.js";
import type { TurnParts } from "../turn/turnParts.js";

/** A client's request to run a turn. */
export interface TurnRequest {
  /** The caller, such as `client:cli`. */
  readonly principal: string;
  readonly requestId: string;
  /** An existing session, or an agent for which one is created. */
  readonly target:
    { readonly kind: "session"; readonly sessionId: string } | { readonly kind: "agent"; readonly agent: string };
  readonly text: string;
  readonly headless: boolean;
  /** Uploaded files, in order; default none. */
  readonly attachmentIds?: readonly string[];
  /** Title of a session that is created. */
  readonly title: string;
  readonly traceparent: string;
  readonly tracestate: string;
}

/** An admitted turn. */
export interface AdmittedTurn {
  readonly turn: Turn;
  /** Whether an earlier call had queued it. */
  readonly replayed: boolean;
}

/**
 * Queues a client's input, once for each key.
 * @throws RpcError UNKNOWN_AGENT, UNKNOWN_SESSION, what the gate is closed for, REQUEST_CONFLICT, CHILD_SESSION, UNKNOWN_ATTACHMENT, QUEUE_FULL, SESSION_PROTECTED; StorageError.
 */
export async function admitTurn(parts: TurnParts, request: TurnRequest): Promise<AdmittedTurn> {
  const { store, clock, random } = parts;
  const { target, principal, attachmentIds = [] } = request;
  const now = clock.now();
  if (request.title === BOT_CHAT_TITLE) throw new RpcError("SESSION_PROTECTED");
  const sessionId = target.kind === "session" ? target.sessionId : newId("ses", random);
  const scope = target.kind === "session" ? target.sessionId : `agent:${target.agent}`;
  const agent = target.kind === "agent" ? target.agent : agentOfSession(store.reader, target.sessionId);
  const closed = agent === undefined ? undefined : parts.gate.closedFor(agent);
  const policy = target.kind === "agent" ? freezePolicy(parts.agent(target.agent)) : undefined;
  const result = await store.writer.execute(admitInput, {
    input: {
      inputId: newId("inp", random),
      sessionId,
      principal,
      requestScope: scope,
      requestId: request.requestId,
      digest: Buffer.from(digestOf([scope, request.text, request.headless, request.title, ...attachmentIds]), "hex"),
      author: clientAuthor(principal),
      attribution: "",
      text: request.text,
      depth: 0,
      headless: request.headless,
      traceparent: request.traceparent,
      tracestate: request.tracestate,
      now,
    },
    ...(target.kind === "agent" && policy !== undefined
      ? {
          create: {
            sessionId,
            agent: target.agent,
            title: request.title,
            botChat: false,
            onUnknown: "pause" as const,
            policy: Policy.encode(policy).finish(),
            now,
          },
        }
      : {}),
    attachmentIds,
    maxQueued: QUOTAS.queuedPerRecipient,
    refuseNew: closed !== undefined,
  });
  switch (result.kind) {
    case "queued":
    case "replayed": {
      const turn = readTurn(store.reader, result.inputId);
      if (turn === undefined) throw reasonError("UNKNOWN_SESSION");
      return { turn, replayed: result.kind === "replayed" };
    }
    case "conflict":
      throw reasonError("REQUEST_CONFLICT");
    case "unknown_session":
      throw reasonError("UNKNOWN_SESSION");
    case "unknown_attachment":
      throw reasonError("UNKNOWN_ATTACHMENT");
    case "child_session":
      throw reasonError("CHILD_SESSION");
    case "queue_full":
      throw reasonError("QUEUE_FULL");
    case "refused":
      throw closed ?? reasonError("BUDGET_REACHED");
  }
}
