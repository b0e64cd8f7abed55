/** What a worker takes from MCP servers: they are programs of others. Sizes are bytes, times milliseconds. */
export const MCP_BOUNDS = Object.freeze({
  /** From the start of a server to its whole list of tools; all servers are asked at once. */
  discoveryMs: 10_000,
  /** One call of a tool. */
  callMs: 300_000,
  /** From the end of the turn, which ends a server's input, to the signals for one that does not go by itself. */
  closeMs: 500,
  /** First and longest wait before a stream over HTTP that broke is taken up again, and how often that is tried. */
  reconnectMinMs: 1_000,
  reconnectMaxMs: 5_000,
  reconnects: 2,
  /** Tools of a turn, of all servers together. */
  tools: 128,
  /** Pages of one server's list. */
  pages: 16,
  /** One message of a server. */
  messageBytes: 8 * 1_048_576,
  /** What a server may send in answer to one request, notifications among it. */
  answerBytes: 32 * 1_048_576,
  /** Messages that a server may send in answer to one request. */
  answerMessages: 10_000,
  /** A tool's result for the model. */
  resultBytes: 262_144,
  /** A tool's description, code points. */
  descriptionCodePoints: 8_192,
  /** A tool's schema as JSON; a larger one is replaced by one that takes any object. */
  schemaBytes: 65_536,
  /** What is logged of a server's standard error in a turn. */
  stderrBytes: 65_536,
  /** What is shown of a text that a server gave as an error, code points. */
  errorCodePoints: 1_024,
});
