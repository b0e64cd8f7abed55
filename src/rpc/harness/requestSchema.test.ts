import { describe, expect, test } from "vitest";
import { z } from "zod";
import { RpcError } from "../rpcError.js";
import { checkRequest, protoPath } from "./requestSchema.js";

describe("field paths", () => {
  test.each([
    [{ inReplyTo: "x" }, ["inReplyTo"], "in_reply_to"],
    [{ parts: [{ mimeType: 1 }] }, ["parts", 0, "mimeType"], "parts[0].mime_type"],
    [{ payload: { $case: "toolCall", value: { callId: 1 } } }, ["payload", "value", "callId"], "tool_call.call_id"],
    [{ payload: { $case: "toolCall", value: "x" } }, ["payload", "value"], "tool_call"],
    [{ payload: undefined }, ["payload"], "payload"],
    [{}, [], "request"],
  ])("%j %j is %s", (root, path, expected) => {
    expect(protoPath(root, path)).toBe(expected);
  });
});

describe("checking", () => {
  test("names every field, and at most twenty", () => {
    const schema = z.object({ names: z.array(z.string().min(2)) });
    const caught = (() => {
      try {
        checkRequest(schema, { names: Array.from({ length: 30 }, () => "x") });
      } catch (error) {
        return error;
      }
      return undefined;
    })();
    expect(caught).toBeInstanceOf(RpcError);
    const { reason, details } = caught as RpcError;
    expect(reason).toBe("INVALID_FIELD");
    expect(details.fieldViolations).toHaveLength(20);
    expect(details.fieldViolations?.[3]?.field).toBe("names[3]");
  });

  test("hands on what the schema makes of the request", () => {
    expect(checkRequest(z.object({ n: z.bigint().transform(Number) }), { n: 5n })).toEqual({ n: 5 });
  });
});
