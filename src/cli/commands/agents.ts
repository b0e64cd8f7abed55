import { Agent, AgentServiceService } from "../../gen/talaria/gateway/v1/agent_service.js";
import type { CommandContext } from "../commandContext.js";
import { table } from "../render/table.js";

/** Lists the agents of the home. */
export async function agents(context: CommandContext): Promise<void> {
  const gateway = await context.gateway();
  const found: Agent[] = [];
  for (let pageToken = "", more = true; more; more = pageToken !== "") {
    const page = await gateway.call(AgentServiceService.listAgents, { pageSize: 100, pageToken });
    found.push(...page.agents);
    pageToken = page.nextPageToken;
  }
  context.print(
    found.map((agent) => Agent.toJSON(agent)),
    (columns) =>
      table(
        ["AGENT", "RUNTIME", "MODEL", "DESCRIPTION"],
        found.map((agent) => [
          agent.main ? `${agent.name} (main)` : agent.name,
          agent.runtime,
          agent.model,
          agent.problem === "" ? agent.description : `! ${agent.problem}`,
        ]),
        columns,
      ),
  );
}
