import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { StorageError } from "../base/storageError.js";
import { ErrorInfo } from "../gen/google/rpc/error_details.js";
import { Status } from "../gen/google/rpc/status.js";
import { invalidField, reasonError, RpcError } from "./rpcError.js";
import { fromServiceError, toStatus } from "./status.js";
import { cutText, MAX_STATUS_DETAILS_BYTES } from "./statusDetails.js";

/** What grpc-js hands to a client for a status. */
function received(error: RpcError): ServiceError {
  const { code, details, metadata } = toStatus(error);
  return Object.assign(new Error(details), { code, details, metadata });
}

describe("RpcError.from", () => {
  test("passes an RpcError, and translates what the suite knows", () => {
    const error = reasonError("DRAINING");
    expect(RpcError.from(error)).toBe(error);
    expect(RpcError.from(new StorageError("full", "x")).reason).toBe("STORAGE_FULL");
    expect(RpcError.from(new StorageError("unavailable", "x")).reason).toBe("STORAGE_UNAVAILABLE");
    expect(RpcError.from(new DOMException("x", "AbortError")).reason).toBe("CANCELLED");
    expect(RpcError.from(new DOMException("x", "TimeoutError")).reason).toBe("DEADLINE_EXCEEDED");
  });

  test("hides everything else behind an incident id of its own", () => {
    const cause = new Error("password");
    const [first, second] = [RpcError.from(cause), RpcError.from("a string")];
    expect(first.reason).toBe("INTERNAL");
    expect(first.cause).toBe(cause);
    expect(JSON.stringify(toStatus(first))).not.toContain("password");
    expect(first.details.metadata?.["incident"]).not.toBe(second.details.metadata?.["incident"]);
  });
});

describe("a status", () => {
  test("brings an error to the other side whole", () => {
    const sent = reasonError(
      "FRAME_OUT_OF_PHASE",
      { frame: "result", phase: "PROVED", strike: 2 },
      { retryAfterMs: 250, fieldViolations: [{ field: "a.b[0]", description: "must be \u00e4 50% b\n" }] },
    );
    const { reason, message, hint, details } = fromServiceError(received(sent));
    expect({ reason, message, hint, details }).toEqual({
      reason: "FRAME_OUT_OF_PHASE",
      message: 'The frame "result" is not allowed in phase PROVED.',
      hint: sent.hint,
      details: sent.details,
    });
    expect(toStatus(sent).code).toBe(status.FAILED_PRECONDITION);
  });

  test("never exceeds its bound, and keeps reason and hint", () => {
    const fieldViolations = Array.from({ length: 500 }, (_, n) => ({
      field: `field_${String(n)}`,
      description: "\u{1F600}".repeat(300),
    }));
    const metadata = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${String(n)}`, "v".repeat(5_000)]));
    const error = new RpcError("INVALID_FIELD", { message: "m".repeat(100_000), fieldViolations, metadata });
    const { details, metadata: trailers } = toStatus(error);
    expect(Buffer.byteLength(details)).toBeLessThanOrEqual(1024);
    expect((trailers.get("grpc-status-details-bin")[0] as Buffer).length).toBeLessThanOrEqual(MAX_STATUS_DETAILS_BYTES);
    const arrived = fromServiceError(received(error));
    expect(arrived.reason).toBe("INVALID_FIELD");
    expect(arrived.hint).toBe(error.hint);
    expect(Object.keys(arrived.details.metadata ?? {}).length).toBeGreaterThan(0);
  });

  test("an unpaired surrogate cannot break the header", () => {
    const { details } = toStatus(invalidField("name", "bad \ud800 text"));
    expect(() => encodeURI(details)).not.toThrow();
  });

  test("a foreign reason is kept as text, under the reason of its code", () => {
    const info = ErrorInfo.encode({
      reason: "SERVICE_DISABLED",
      domain: "googleapis.com",
      metadata: { zone: "x" },
    }).finish();
    const bytes = Status.encode({
      code: status.PERMISSION_DENIED,
      message: "disabled",
      details: [
        { typeUrl: "type.googleapis.com/some.Unknown", value: Buffer.from([0xff]) },
        { typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value: Buffer.from(info) },
      ],
    }).finish();
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from(bytes));
    const error = fromServiceError(
      Object.assign(new Error(), { code: status.PERMISSION_DENIED, details: "disabled", metadata }),
    );
    expect(error).toMatchObject({ reason: "PERMISSION_DENIED", wireReason: "SERVICE_DISABLED", message: "disabled" });
    expect(error.details.metadata).toEqual({ zone: "x" });
  });

  test("without details, or with garbage for details, the code decides", () => {
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from([0xff, 0xff]));
    for (const [code, reason] of [
      [status.UNAVAILABLE, "UNAVAILABLE"],
      [status.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED"],
      [status.OK, "UNKNOWN_ERROR"],
    ] as const) {
      const error = fromServiceError(Object.assign(new Error(), { code, details: "d", metadata }));
      expect(error).toMatchObject({ reason, message: "d" });
    }
  });
});

test("text is cut between characters", () => {
  expect(cutText("a\u00e4b", 2)).toBe("a");
  expect(cutText("a\u00e4b", 3)).toBe("a\u00e4");
  expect(cutText("\u{1F600}", 3)).toBe("");
});
