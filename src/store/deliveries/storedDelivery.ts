import type { StoredFailure } from "../storedFailure.js";
import { failureFromColumn } from "../storedFailure.js";
import type { AuthorColumns, StoredAuthor } from "../turns/storedAuthor.js";
import { authorFromColumns } from "../turns/storedAuthor.js";
import type { DeliveryState } from "./deliveryState.js";
import type { RetryMode } from "./turnRetry.js";

/** How a message leaves this gateway or came to it. */
export type DeliveryRoute = "local" | "peer_outbound" | "peer_inbound" | "relay_outbound" | "relay_inbound";

/** One gateway's acceptance of a message. */
export interface StoredHop {
  /** The gateway's own name. */
  readonly gateway: string;
  /** When it was committed there, epoch milliseconds. */
  readonly acceptedAt: number;
  /** Attempt of the sending side that brought it, from 1. */
  readonly attempt: number;
  /** The delivery's id there; empty when it did not say. */
  readonly deliveryId: string;
}

/** What the recipient answered. */
export interface StoredReply {
  /** The answer, cut to 18,000 code points. */
  readonly text: string;
  /** Whether `text` is only the first part. */
  readonly truncated: boolean;
  /** SHA-256 of the whole answer's UTF-8 bytes. */
  readonly sha256: Uint8Array;
  /** Size of the whole answer, code points. */
  readonly codePoints: number;
}

/** That a delivery's turn failed in this attempt epoch and is run again by itself. */
export interface StoredRetry {
  readonly mode: RetryMode;
  /** The execution that failed. */
  readonly failedExecutionId: string;
}

/** A delivery as rows keep it. Times are epoch milliseconds. */
export interface StoredDelivery {
  /** Order of admission in this home, from 1. */
  readonly sequence: number;
  readonly deliveryId: string;
  /** Order in its recipient's lane; a redrive takes a later one. */
  readonly lanePlace: number;
  /** Whose keys `key` is unique among: `client:<name>`, `agent:<name>`, `peer:<name>`, `relay:<name>`. */
  readonly principalScope: string;
  /** The sender's key. */
  readonly key: string;
  /** Over sender, target, body and in_reply_to; 32 bytes. */
  readonly digest: Uint8Array;
  readonly state: DeliveryState;
  readonly route: DeliveryRoute;
  readonly sender: StoredAuthor;
  /** Session that is told of the end; undefined when nobody is. */
  readonly senderSessionId: string | undefined;
  /** Id of the author whose message started the turn that sent this; empty when none did. */
  readonly startedBy: string;
  /** Target as typed. */
  readonly target: string;
  /** Peer or connector that hosts the recipient; empty for this gateway. */
  readonly recipientGateway: string;
  /** The recipient's name there. */
  readonly recipientAgent: string;
  /** Name of the recipient for people. */
  readonly recipientName: string;
  /** Undefined once removed. */
  readonly body: string | undefined;
  readonly bodyCodePoints: number;
  /** Delivery (or, from a peer, key) that this answers; empty otherwise. */
  readonly inReplyTo: string;
  readonly depth: number;
  /** From 1. */
  readonly attemptEpoch: number;
  /** Attempts of the transport in this epoch. */
  readonly attempts: number;
  /** Whether an attempt may have been accepted without our knowing. */
  readonly undecided: boolean;
  readonly nextAttemptAt: number | undefined;
  readonly lastError: StoredFailure | undefined;
  readonly createdAt: number;
  /** No receiver starts it after this. */
  readonly expiresAt: number;
  readonly claimedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly reply: StoredReply | undefined;
  readonly failure: StoredFailure | undefined;
  readonly hops: readonly StoredHop[];
  readonly toldAt: number | undefined;
  /** Input that told the sending session last; undefined when none did. */
  readonly toldInputId: string | undefined;
  /** How often the sending session was told: the end, and the resolution of an unknown end. */
  readonly toldCount: number;
  readonly traceparent: string;
  readonly tracestate: string;
  /** Input that carries it here; undefined when it does not run here. */
  readonly inputId: string | undefined;
  readonly executionId: string | undefined;
  /** The one automatic retry of its turn; undefined while there was none. */
  readonly retry: StoredRetry | undefined;
  /** Number of its last change, from 1. */
  readonly revision: number;
  /** Place of its last change among the receipts of its peer; undefined when no receipt is due. */
  readonly receiptSequence: number | undefined;
  readonly updatedAt: number;
}

/** The columns of `deliveries`, as {@link deliveryFromRow} takes them. */
export interface DeliveryRow extends AuthorColumns {
  sequence: number;
  delivery_id: string;
  lane_place: number;
  principal_scope: string;
  key: string;
  digest: Uint8Array;
  state: string;
  route: string;
  sender_session_id: string | null;
  started_by: string;
  target: string;
  recipient_gateway: string;
  recipient_agent: string;
  recipient_name: string;
  body: string | null;
  body_code_points: number;
  in_reply_to: string;
  depth: number;
  attempt_epoch: number;
  attempts: number;
  undecided: number;
  next_attempt_at: number | null;
  last_error: string | null;
  created_at: number;
  expires_at: number;
  claimed_at: number | null;
  ended_at: number | null;
  reply_text: string | null;
  reply_truncated: number;
  reply_sha256: Uint8Array | null;
  reply_code_points: number;
  failure: string | null;
  hops: string;
  told_at: number | null;
  told_input_id: string | null;
  told_count: number;
  traceparent: string;
  tracestate: string;
  input_id: string | null;
  execution_id: string | null;
  retry_mode: RetryMode | null;
  retried_execution_id: string | null;
  revision: number;
  receipt_sequence: number | null;
  updated_at: number;
}

/** Reads a row of `deliveries`. */
export function deliveryFromRow(row: DeliveryRow): StoredDelivery {
  return {
    sequence: row.sequence,
    deliveryId: row.delivery_id,
    lanePlace: row.lane_place,
    principalScope: row.principal_scope,
    key: row.key,
    digest: row.digest,
    state: row.state as DeliveryState,
    route: row.route as DeliveryRoute,
    sender: authorFromColumns(row),
    senderSessionId: row.sender_session_id ?? undefined,
    startedBy: row.started_by,
    target: row.target,
    recipientGateway: row.recipient_gateway,
    recipientAgent: row.recipient_agent,
    recipientName: row.recipient_name,
    body: row.body ?? undefined,
    bodyCodePoints: row.body_code_points,
    inReplyTo: row.in_reply_to,
    depth: row.depth,
    attemptEpoch: row.attempt_epoch,
    attempts: row.attempts,
    undecided: row.undecided === 1,
    nextAttemptAt: row.next_attempt_at ?? undefined,
    lastError: failureFromColumn(row.last_error),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    claimedAt: row.claimed_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    reply:
      row.reply_text === null || row.reply_sha256 === null
        ? undefined
        : {
            text: row.reply_text,
            truncated: row.reply_truncated === 1,
            sha256: row.reply_sha256,
            codePoints: row.reply_code_points,
          },
    failure: failureFromColumn(row.failure),
    hops: JSON.parse(row.hops) as StoredHop[],
    toldAt: row.told_at ?? undefined,
    toldInputId: row.told_input_id ?? undefined,
    toldCount: row.told_count,
    traceparent: row.traceparent,
    tracestate: row.tracestate,
    inputId: row.input_id ?? undefined,
    executionId: row.execution_id ?? undefined,
    retry:
      row.retry_mode === null || row.retried_execution_id === null
        ? undefined
        : { mode: row.retry_mode, failedExecutionId: row.retried_execution_id },
    revision: row.revision,
    receiptSequence: row.receipt_sequence ?? undefined,
    updatedAt: row.updated_at,
  };
}
