const KIB = 1024;
const MIB = 1024 * KIB;

/** Sizes and counts that belong to the contract. They are not configurable: both ends of a call rely on them. */
export const LIMITS = Object.freeze({
  /** Largest message that a handler accepts; beyond it the caller gets a typed error. */
  messageBytes: 4 * MIB,
  /** Largest message that the transport carries, so that one over `messageBytes` still arrives to be refused. */
  transportMessageBytes: 8 * MIB,
  /** What a worker may have sent beyond the owner's last ack. */
  outstandingBytes: 1 * MIB,
  /** Retry buffer of stream channels: grpc-js copies its whole queue per message up to this size. */
  streamRetryBufferBytes: 4 * KIB,
  /** What a connection from another machine, and each of its streams, may have sent that was not read yet. */
  receiveWindowBytes: 1 * MIB,
  /** Largest number that is counted, of tokens or rows: what a double holds exactly. */
  counter: 2 ** 53,
  /** Largest cost, US dollars. */
  costUsd: 1e12,
  /** Longest body of a direct message. */
  bodyCodePoints: 16_000,
  /** Longest reply that a receipt carries inline; a longer one is cut and marked. */
  replyCodePoints: 18_000,
  /** Longest answer to a clarify prompt. */
  clarifyAnswerCodePoints: 16_384,
  /** Longest string field in a result receipt. */
  resultStringCodePoints: 4_096,
  /** Longest author, client or principal name. */
  displayNameCodePoints: 200,
  /** Open prompts of one execution, both kinds together. */
  openPrompts: 16,
  /** Items in a page when the caller does not say. */
  pageSize: 50,
  /** Most items in a page. */
  pageSizeMax: 100,
  /** Long texts of a page together; one item that is longer is a page of its own. */
  pageBytes: 2 * MIB,
  /** Texts of a session's snapshot together. */
  snapshotBytes: 3 * MIB,
  /** Tool arguments above this many bytes of JSON are reduced. */
  toolArgumentsBytes: 64 * KIB,
  /** Keys kept when tool arguments are reduced. */
  toolArgumentKeys: 64,
  /** Longest key name kept when tool arguments are reduced. */
  toolArgumentKeyCodePoints: 256,
  /** Longest value kept when tool arguments are reduced. */
  toolArgumentValueCodePoints: 4_096,
  /** Total of the values kept when tool arguments are reduced. */
  toolArgumentsReducedBytes: 32 * KIB,
  /** A tool result above this many bytes is cut. */
  toolResultBytes: 64 * KIB,
  /** What is kept of a tool result that was cut. */
  toolResultReducedBytes: 32 * KIB,
  /** Longest path of a Unix socket; the kernel's own bound is 104 to 108 bytes. */
  socketPathBytes: 100,
  /** Ancestors of a worker that are compared with the launched handle. */
  ancestorDepth: 3,
  /** One-time token of a launch, and the secret of an assignment. */
  secretBytes: 32,
  /** Messages of one batch between gateways. */
  batchItems: 256,
  /** Longest chain of messages that cause one another. */
  depth: 16,
  /** Child turns of one execution. */
  children: 8,
  /** Deepest child turn in a tree of them; a turn that is no child has depth 0. */
  childDepth: 2,
  /** Longest answer that a parent is given of its child turn; a longer one is cut and marked. */
  childAnswerCodePoints: 262_144,
  /** Attachments of one input. */
  attachments: 10,
  /** Largest attachment. */
  attachmentBytes: 10 * MIB,
} as const);

/** How much mail may wait and how much may be kept in a home; going over answers with a typed refusal. */
export const QUOTAS = Object.freeze({
  /** Queued for one recipient by one sender. */
  queuedPerRecipientAndSender: 64,
  /** Queued for one recipient by anyone. */
  queuedPerRecipient: 1_000,
  /** Queued in the home. */
  queuedPerHome: 10_000,
  /** Bodies kept in the home, in bytes of UTF-8. */
  bodyBytesPerHome: 64 * MIB,
  /** Attachments kept in the home, in bytes; the same content counts once. */
  attachmentBytesPerHome: 1_024 * MIB,
} as const);
