import { Agent, AgentServiceService } from "../../gen/talaria/gateway/v1/agent_service.js";
import { pages } from "../../rpc/clients/pages.js";
import type { CommandContext } from "../commandContext.js";
import { table } from "../render/table.js";

/** Lists the agents of the home. */
export async function agents(context: CommandContext): Promise<void> {
  const gateway = await context.gateway();
  const found: Agent[] = [];
  const read = (pageToken: string) => gateway.call(AgentServiceService.listAgents, { pageSize: 100, pageToken });
  for await (const page of pages(read)) found.push(...page.agents);
  context.print(
    found.map((agent) => Agent.toJSON(agent)),
    (columns) =>
      table(
        ["AGENT", "RUNTIME", "MODEL", "DESCRIPTION"],
        found.map((agent) => [
          agent.main ? `${agent.name} (main)` : agent.name,
          agent.runtime,
          agent.model,
          agent.problem !== ""
            ? `! ${agent.problem}`
            : agent.pause === undefined
              ? agent.description
              : `! ${agent.pause.message}`,
        ]),
        columns,
      ),
  );
}
