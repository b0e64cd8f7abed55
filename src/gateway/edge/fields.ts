import { z } from "zod";

import { exceedsCodePoints } from "../../base/codePoints.js";
import type { IdPrefix } from "../../base/ids.js";
import { isId } from "../../base/ids.js";
import { LIMITS } from "../../base/limits.js";

/** The key of a request that changes something. Source: DESIGN section 3. */
export const requestIdField = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, "is required: 1 to 128 characters of A-Z a-z 0-9 . _ : -");

/** An id of this kind. */
export function idField(prefix: IdPrefix): z.ZodType<string, string> {
  return z.string().refine((text) => isId(prefix, text), `must be ${prefix}_ and 26 characters`);
}

/** Rows of a page; 0 means the default. */
export const pageSizeField = z
  .int()
  .min(0)
  .max(LIMITS.pageSizeMax, `must be at most ${String(LIMITS.pageSizeMax)}`);

/** A page token as it came; its signature is checked where it is used. */
export const pageTokenField = z.string().max(1_024, "is too long");

/** A name of an agent that may or may not exist; empty where the field may be left out. */
export const agentField = z.string().max(64, "must have at most 64 characters");

/** A line of text for people, without control characters. */
export function lineField(min: number, max: number): z.ZodType<string, string> {
  return z
    .string()
    .min(min, "must not be empty")
    .refine((text) => !exceedsCodePoints(text, max), `must have at most ${String(max)} code points`)
    .refine((text) => !/\p{Cc}/u.test(text), "must not hold control characters");
}
