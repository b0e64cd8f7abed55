import { BinaryReader } from "@bufbuild/protobuf/wire";
import { LIMITS } from "../base/limits.js";
import { RpcError } from "./rpcError.js";

/** Reads a message from its bytes. */
export type Decode<T> = (bytes: Buffer) => T;

/** Writes a message to bytes that nobody changes afterwards. */
export type Encode<T> = (message: T) => Uint8Array;

class InvalidUtf8 extends Error {}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads text strictly, where the standard reader would put U+FFFD for what is not UTF-8. */
export function decodeStrictUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new InvalidUtf8("not UTF-8", { cause });
  }
}

/**
 * Makes a generated `decode` strict about UTF-8. Generated code takes a reader in place of bytes, though its service
 * definitions declare a Buffer.
 */
export function strictDecode<T>(decode: Decode<T>): Decode<T> {
  return (bytes) => decode(new BinaryReader(bytes, decodeStrictUtf8) as unknown as Buffer);
}

/** Decodes a received message. @throws RpcError MESSAGE_TOO_LARGE (over 4 MiB), INVALID_UTF8 or MALFORMED_MESSAGE. */
export function decodeMessage<T>(decode: Decode<T>, bytes: Buffer): T {
  checkSize(bytes.length);
  try {
    return decode(bytes);
  } catch (caught) {
    if (caught instanceof RpcError) throw caught;
    throw new RpcError(caught instanceof InvalidUtf8 ? "INVALID_UTF8" : "MALFORMED_MESSAGE", { cause: caught });
  }
}

/** Encodes a message to be sent. @throws RpcError MESSAGE_TOO_LARGE (over 4 MiB), and whatever `encode` throws. */
export function encodeMessage<T>(encode: Encode<T>, message: T): Buffer {
  const bytes = encodeUnchecked(encode, message);
  checkSize(bytes.length);
  return bytes;
}

/** Encodes a message whose size the receiver judges. */
export function encodeUnchecked<T>(encode: Encode<T>, message: T): Buffer {
  const bytes = encode(message);
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A serializer or deserializer that leaves bytes as they are, so that (de)coding happens where errors can be typed. */
export function passBytes(bytes: Buffer): Buffer {
  return bytes;
}

function checkSize(bytes: number): void {
  if (bytes <= LIMITS.messageBytes) return;
  throw new RpcError("MESSAGE_TOO_LARGE", {
    message: `A message has ${String(bytes)} bytes; the limit is ${String(LIMITS.messageBytes)}.`,
    metadata: { bytes: String(bytes), limit: String(LIMITS.messageBytes) },
  });
}
