import { messageAgentArguments } from "../../base/tools/messageAgentArguments.js";
import { defineTool } from "./toolDefinition.js";

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
