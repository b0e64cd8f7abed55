import { z } from "zod";

import { LIMITS } from "../limits.js";

/** Arguments of `message_agent`. Lengths are code points, which is why they are told and not checked here: the door does. */
export const messageAgentArguments = z.strictObject({
  target: z.string().min(1).describe("Whom to: one address of the list of teammates, exactly as it is written there."),
  message: z
    .string()
    .min(1)
    .meta({ maxLength: LIMITS.bodyCodePoints })
    .describe("What to say, in your own words: the point and the concrete ask first."),
  in_reply_to: z
    .string()
    .optional()
    .describe("The delivery id of the message that this one answers; leave it out for a message of its own."),
});
