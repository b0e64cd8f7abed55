/** First byte of a TLS record that carries a handshake. Source: RFC 8446 section 5.1. */
const HANDSHAKE = 22;
/** Bytes before a record's contents: its type, a version, and the length of the contents. */
const HEADER_BYTES = 5;

/** Most bytes that a client may send before its turn; a client's first message has some hundred, with a hybrid key share below 2,000. */
export const MAX_HELLO_BYTES = 4_096;

/**
 * Whether a client has sent all that its handshake waits for: a whole first record. What is no handshake counts as whole, because nothing
 * is gained by waiting for more of it.
 */
export function isWholeHello(bytes: Uint8Array): boolean {
  const [type, , , high, low] = bytes;
  if (type === undefined) return false;
  if (type !== HANDSHAKE) return true;
  if (high === undefined || low === undefined) return false;
  return bytes.length >= HEADER_BYTES + high * 256 + low;
}
