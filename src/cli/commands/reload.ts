import { AdminServiceService, ReloadResponse } from "../../gen/talaria/gateway/v1/admin_service.js";
import type { CommandContext } from "../commandContext.js";
import { exitCodeOf } from "../exitCodes.js";

/**
 * Has a gateway read its agents again.
 * @returns the exit code of AGENT_INVALID where one of them cannot be used
 */
export async function reload(context: CommandContext): Promise<number | undefined> {
  const gateway = await context.gateway();
  const answer = await gateway.call(AdminServiceService.reload, { requestId: context.newRequestId() });
  const { added, changed, removed, problems } = answer;
  const line = (word: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${word}: ${names.join(", ")}`];
  context.print(ReloadResponse.toJSON(answer), () => {
    const lines = [
      ...line("Added", added),
      ...line("Changed, for new sessions (budgets at once)", changed),
      ...line("Removed", removed),
      ...problems.map(({ message, hint }) => `! ${message} ${hint}`.trimEnd()),
    ];
    return lines.length === 0 ? "Nothing has changed." : lines.join("\n");
  });
  return problems.length === 0 ? undefined : exitCodeOf("AGENT_INVALID");
}
