import { systemRandom, type Random } from "../../base/random.js";
import { redact } from "../../base/redaction.js";
import type { ToolDefinition } from "../../gen/talaria/types/v1/policy.js";
import { connectMcpServers } from "../mcp/connectMcpServers.js";
import type { TurnContext } from "../turnContext.js";
import { BackgroundProcesses } from "./backgroundProcesses.js";
import { runCheckDelivery } from "./checkDeliveryTool.js";
import { clarifyTool } from "./clarifyTool.js";
import { commandSite } from "./commandSite.js";
import { delegateTool } from "./delegateTool.js";
import { runMessageAgent } from "./messageAgentTool.js";
import { readFileTool } from "./readFileTool.js";
import { terminalKillTool } from "./terminalKillTool.js";
import { terminalPollTool } from "./terminalPollTool.js";
import { terminalTool } from "./terminalTool.js";
import type { Tool, ToolSource } from "./tool.js";
import { writeFileTool } from "./writeFileTool.js";

/** Runs a tool that the owner defines. */
type Executor = (context: TurnContext, args: unknown) => Promise<string>;

const OFFERED: Readonly<Record<string, Executor>> = {
  message_agent: runMessageAgent,
  check_delivery: runCheckDelivery,
};

/**
 * The tools of a turn: those that the owner offers, then our own that the policy names, or all of them where it names none, then
 * those of the agent's MCP servers. Of two with one name the first counts. The caller closes the set.
 * @throws the reason of the stop where the turn is stopped meanwhile
 */
export async function createToolSet(context: TurnContext, random: Random = systemRandom): Promise<ToolSource> {
  const { policy, tools: definitions } = context.assignment;
  const offered = definitions.flatMap((definition) => offeredTool(definition, context));
  const own = [clarifyTool(context), ...workspaceTools(context, random), ...delegateTools(context)];
  const chosen = policy.tools.length === 0 ? own : own.filter(({ name }) => policy.tools.includes(name));
  const servers = await connectMcpServers(context);
  return { ...servers, tools: withoutDoubles([...offered, ...chosen, ...servers.tools]) };
}

function workspaceTools(context: TurnContext, random: Random): readonly Tool[] {
  const { workspace, policy, backgroundProcesses } = context.assignment;
  if (workspace === "") return [];
  const { store, clock } = context;
  const site = commandSite(policy, workspace, process.env);
  const background = new BackgroundProcesses({ workspace, store, clock, random, redact, earlier: backgroundProcesses });
  return [
    readFileTool(workspace),
    writeFileTool(workspace, random),
    terminalTool({ context, site, background }),
    terminalPollTool(background),
    terminalKillTool(background),
  ];
}

function delegateTools(context: TurnContext): readonly Tool[] {
  const tool = delegateTool(context);
  return tool === undefined ? [] : [tool];
}

function offeredTool(definition: ToolDefinition, context: TurnContext): readonly Tool[] {
  const { name, description, parametersJsonSchema } = definition;
  const execute = Object.hasOwn(OFFERED, name) ? OFFERED[name] : undefined;
  if (execute === undefined) {
    context.log.warn("a tool is offered that this worker does not have", { name });
    return [];
  }
  const parameters = JSON.parse(parametersJsonSchema) as Record<string, unknown>;
  return [{ name, description, parameters, run: (args, { callId }) => execute(withinCall(context, callId), args) }];
}

/** The context of a tool call: its messages are told to come from it. */
function withinCall(context: TurnContext, callId: string): TurnContext {
  return { ...context, sendDirectMessage: (message) => context.sendDirectMessage({ ...message, callId }) };
}

function withoutDoubles(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ name }, index) => tools.findIndex((one) => one.name === name) === index);
}
