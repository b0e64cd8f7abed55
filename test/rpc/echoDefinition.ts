import { ErrorInfo } from "../../src/gen/google/rpc/error_details.js";

const codec = {
  requestSerialize: (value: ErrorInfo): Buffer => Buffer.from(ErrorInfo.encode(value).finish()),
  requestDeserialize: (value: Buffer): ErrorInfo => ErrorInfo.decode(value),
  responseSerialize: (value: ErrorInfo): Buffer => Buffer.from(ErrorInfo.encode(value).finish()),
  responseDeserialize: (value: Buffer): ErrorInfo => ErrorInfo.decode(value),
} as const;

/** A service with a method of each kind, in the form of generated definitions; its messages are google.rpc.ErrorInfo. */
export const EchoService = {
  unary: {
    path: "/test.EchoService/Unary" as const,
    requestStream: false as const,
    responseStream: false as const,
    ...codec,
  },
  down: {
    path: "/test.EchoService/Down" as const,
    requestStream: false as const,
    responseStream: true as const,
    ...codec,
  },
  up: { path: "/test.EchoService/Up" as const, requestStream: true as const, responseStream: false as const, ...codec },
  both: {
    path: "/test.EchoService/Both" as const,
    requestStream: true as const,
    responseStream: true as const,
    ...codec,
  },
} as const;

/** A message of the service. */
export function message(reason: string, domain = ""): ErrorInfo {
  return { reason, domain, metadata: {} };
}
