import { z } from "zod";

/** Arguments of `check_delivery`. */
export const checkDeliveryArguments = z.strictObject({
  delivery_id: z.string().min(1).describe("The delivery id that message_agent answered with."),
});
