import type { MethodDefinition } from "@grpc/grpc-js";
import { decodeMessage, encodeMessage, strictDecode, type Decode } from "../codec.js";
import type { MethodOptions } from "./methods.js";
import { checkRequest } from "./requestSchema.js";

/** How a method's messages are read, checked and written. */
export interface MessageCodec {
  /** Reads and checks a request. @throws RpcError for what is too large, malformed, not UTF-8 or against the schema. */
  readonly decode: Decode<unknown>;
  /** Writes a response. @throws RpcError MESSAGE_TOO_LARGE. */
  readonly encode: (response: unknown) => Buffer;
}

/** Any method of a generated service definition. */
export type AnyDefinition = MethodDefinition<unknown, unknown>;

/** Puts together the codec of a method from its generated definition and its own options. */
export function messageCodec(
  definition: AnyDefinition,
  method: MethodOptions<unknown, unknown, unknown>,
): MessageCodec {
  const decode: Decode<unknown> = method.decode ?? strictDecode((bytes) => definition.requestDeserialize(bytes));
  const encode = method.encode ?? ((response: unknown) => definition.responseSerialize(response));
  const { schema } = method;
  return {
    decode: (bytes) => {
      const request = decodeMessage(decode, bytes);
      return schema === undefined ? request : checkRequest(schema, request);
    },
    encode: (response) => encodeMessage(encode, response),
  };
}
