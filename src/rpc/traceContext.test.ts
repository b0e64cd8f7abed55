import { describe, expect, test } from "vitest";
import { systemRandom, type Random } from "../base/random.js";
import { childTrace, formatTraceparent, parseTraceparent, startTrace } from "./traceContext.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("traceparent", () => {
  test("is read and written", () => {
    const text = `00-${TRACE}-${SPAN}-01`;
    const trace = parseTraceparent(text);
    expect(trace).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
    expect(trace && formatTraceparent(trace)).toBe(text);
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)?.sampled).toBe(false);
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-more`)?.traceId).toBe(TRACE);
  });

  test.each([
    "",
    "junk",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-1`,
  ])("%j is none", (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test("children stay in their trace with a span of their own", () => {
    const root = startTrace(systemRandom);
    const child = childTrace(root, systemRandom);
    expect(child.traceId).toBe(root.traceId);
    expect(child.spanId).not.toBe(root.spanId);
    expect(parseTraceparent(formatTraceparent(childTrace(undefined, systemRandom)))).toBeDefined();
  });

  test("identifiers are never all zero", () => {
    const zeroes: Random = { bytes: (length) => Buffer.alloc(length), fraction: () => 0 };
    expect(parseTraceparent(formatTraceparent(startTrace(zeroes)))).toBeDefined();
  });
});
