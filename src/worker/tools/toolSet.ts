import { systemRandom, type Random } from "../../base/random.js";
import type { ToolDefinition } from "../../gen/talaria/types/v1/policy.js";
import type { TurnContext } from "../turnContext.js";
import { runCheckDelivery } from "./checkDeliveryTool.js";
import { clarifyTool } from "./clarifyTool.js";
import { runMessageAgent } from "./messageAgentTool.js";
import { readFileTool } from "./readFileTool.js";
import type { Tool, ToolSource } from "./tool.js";
import { writeFileTool } from "./writeFileTool.js";

/** Runs a tool that the owner defines. */
type Executor = (context: TurnContext, args: unknown) => Promise<string>;

const OFFERED: Readonly<Record<string, Executor>> = {
  message_agent: runMessageAgent,
  check_delivery: runCheckDelivery,
};

/**
 * The tools of a turn: those that the owner offers, then our own that the policy names, or all of them where it names none.
 * Of two with one name the first counts.
 */
export async function createToolSet(context: TurnContext, random: Random = systemRandom): Promise<ToolSource> {
  const { policy, tools: definitions, workspace } = context.assignment;
  const offered = definitions.flatMap((definition) => offeredTool(definition, context));
  const own: readonly Tool[] = [
    clarifyTool(context),
    ...(workspace === "" ? [] : [readFileTool(workspace), writeFileTool(workspace, random)]),
  ];
  const chosen = policy.tools.length === 0 ? own : own.filter(({ name }) => policy.tools.includes(name));
  return {
    tools: withoutDoubles([...offered, ...chosen]),
    problems: [],
    close: () => Promise.resolve(),
  };
}

function offeredTool(definition: ToolDefinition, context: TurnContext): readonly Tool[] {
  const { name, description, parametersJsonSchema } = definition;
  const execute = Object.hasOwn(OFFERED, name) ? OFFERED[name] : undefined;
  if (execute === undefined) {
    context.log.warn("a tool is offered that this worker does not have", { name });
    return [];
  }
  const parameters = JSON.parse(parametersJsonSchema) as Record<string, unknown>;
  return [{ name, description, parameters, run: (args) => execute(context, args) }];
}

function withoutDoubles(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ name }, index) => tools.findIndex((one) => one.name === name) === index);
}
