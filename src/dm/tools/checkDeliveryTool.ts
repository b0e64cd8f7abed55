import { checkDeliveryArguments } from "../../base/tools/checkDeliveryArguments.js";
import { defineTool } from "./toolDefinition.js";

/** The tool that looks at a message that was sent before. */
export const checkDeliveryTool = defineTool(
  "check_delivery",
  [
    "Looks at a message that you sent with message_agent: whether it waits, is being worked on, was answered, or was not delivered.",
    "Replies come by themselves; use it only where message_agent said reply_via poll, or when you are asked what became of a message.",
    "A reply that you read here does not come again.",
  ],
  checkDeliveryArguments,
);
