import { z } from "zod";

import { LIMITS } from "../../base/limits.js";
import { defineTool } from "./toolDefinition.js";

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

/** The tool that sends a message to another agent. Source: issue 4, section 2. */
export const messageAgentTool = defineTool(
  "message_agent",
  [
    "Sends a direct message to another agent, a teammate.",
    "Lead with the point and the concrete ask, and say what you already know: the teammate sees nothing of this conversation.",
    "Write it in your own words: paraphrase, never paste what the user wrote, and keep to yourself what the user told you in private.",
    "Write to the one teammate whom it concerns; to several only if you were asked to.",
    "The message is sent when this tool answers, and that is all it says: it is not yet read.",
    "Do not wait for the reply and do not ask for it: finish your turn. It comes as an input of its own.",
    "Only where the answer says reply_via poll, look with check_delivery later.",
    "Pass a reply on as the teammate's, naming who said it. Where a message fails, say that it was not delivered.",
    "Where the tool refuses, do what its hint says; do not call it again unless it says that a retry may help.",
  ],
  messageAgentArguments,
);
