/** Bounds of a row that a runtime writes, bytes. Source: ConversationMessage. */
export const ROW_BOUNDS = Object.freeze({
  /** Its text, and its reasoning. */
  textBytes: 1_048_576,
  /** The arguments of one call. */
  argumentBytes: 262_144,
});
