import type { TurnInput } from "../../../gen/talaria/owner/v1/owner_service.js";

/** An input as the model is to read it: behind the line that names its author, where it has one. Pure. */
export function inputText({ attribution, text }: Pick<TurnInput, "attribution" | "text">): string {
  return attribution === "" ? text : `${attribution}\n${text}`;
}
