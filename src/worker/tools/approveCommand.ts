import type { TurnContext } from "../turnContext.js";
import { dangerousCommand } from "./dangerousCommand.js";

/** What of a turn decides about commands. */
export type ApprovingContext = Pick<TurnContext, "approve">;

/**
 * Has a command approved. One that is seen to be dangerous can be allowed once only, so that no grant covers it.
 * @param about what the person should know besides the command, a sentence
 * @throws Error in words for the model where it is denied
 */
export async function approveCommand({ approve }: ApprovingContext, command: string, about: string): Promise<void> {
  const danger = dangerousCommand(command);
  const { allowed, cause } = await approve({
    command,
    description: danger === undefined ? about : `${danger} ${about}`,
    allowSession: true,
    allowPermanent: true,
    smartDenied: danger !== undefined,
    edit: undefined,
  });
  if (!allowed) throw new Error(`The command was not run: ${REFUSALS[cause]}`);
}

const REFUSALS: Readonly<Record<Awaited<ReturnType<TurnContext["approve"]>>["cause"], string>> = {
  granted: "it is not allowed.",
  answered: "the person denied it. Do not try the same in another form.",
  expired: "nobody approved it in time.",
  stopped: "the turn is being stopped.",
  headless: "nobody is there who could approve it.",
  refused: "too many questions are open; settle the others first.",
  policy: "the agent's policy denies every command that needs approval.",
};
