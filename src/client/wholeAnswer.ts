import { createHash } from "node:crypto";
import type { Turn } from "../gen/talaria/gateway/v1/turn_service.js";
import { SessionServiceService } from "../gen/talaria/gateway/v1/session_service.js";
import { MessageRole } from "../gen/talaria/types/v1/conversation.js";
import type { AnswerReference } from "../gen/talaria/types/v1/result.js";
import { RpcError } from "../rpc/rpcError.js";
import type { TalariaConnection } from "./talariaClient.js";

/** Rows of a page. */
const PAGE = 100;

/**
 * The whole answer of a turn that has ended: of its receipt, or of its session's transcript where it was too long for that.
 * @throws RpcError of the calls; UNKNOWN_ERROR where the transcript does not hold it, as after a compaction
 */
export async function wholeAnswer(
  gateway: Pick<TalariaConnection, "call">,
  turn: Turn,
  signal?: AbortSignal,
): Promise<string> {
  const { answer, finalResponse = "" } = turn.result ?? {};
  if (answer === undefined) return finalResponse;
  const { sessionId, executionId } = turn;
  const texts: string[] = [];
  for (let pageToken = "", more = true; more; more = pageToken !== "") {
    const request = { sessionId, pageSize: PAGE, pageToken };
    const page = await gateway.call(
      SessionServiceService.readTranscript,
      request,
      signal === undefined ? {} : { signal },
    );
    for (const row of page.messages) {
      if (row.executionId === executionId && row.role === MessageRole.MESSAGE_ROLE_ASSISTANT) texts.push(row.text);
    }
    pageToken = page.nextPageToken;
  }
  const whole = lastOf(texts, answer);
  if (whole !== undefined) return whole;
  const message = `The answer has ${String(answer.sizeBytes)} bytes, and the session's transcript does not hold it any more.`;
  throw new RpcError("UNKNOWN_ERROR", { message });
}

/** What the last texts are together, where that is what the receipt refers to. */
function lastOf(texts: readonly string[], { sha256, sizeBytes }: AnswerReference): string | undefined {
  const rows: string[] = [];
  let left = Number(sizeBytes);
  for (const text of texts.toReversed()) {
    if (left <= 0) break;
    rows.unshift(text);
    left -= Buffer.byteLength(text);
  }
  const whole = rows.join("");
  return createHash("sha256").update(whole).digest().equals(sha256) ? whole : undefined;
}
