import { RpcError } from "../../../rpc/rpcError.js";
import type { TurnContext } from "../../turnContext.js";
import type { Runtime } from "../runtime.js";
import { runAcpTurn } from "./acpTurn.js";

/**
 * A runtime whose brain is another program: an agent that speaks the Agent Client Protocol on its standard streams.
 * @throws RpcError RUNTIME_CONFIG where the policy names no program or a variable's value is missing.
 */
export async function acpRuntime(context: TurnContext): Promise<Runtime> {
  const { agentCommand, agentEnvironmentNames, model } = context.assignment.policy;
  const [program, ...args] = agentCommand;
  if (program === undefined) throw new RpcError("RUNTIME_CONFIG", { message: "The agent names no program to drive." });
  const env: Record<string, string> = {};
  for (const name of agentEnvironmentNames) {
    const value = context.credential(`agent/env/${name}`);
    if (value === undefined) {
      throw new RpcError("RUNTIME_CONFIG", { message: `The value of the agent's variable ${name} is missing.` });
    }
    env[name] = value;
  }
  return {
    model: model?.model ?? "",
    run: (turn) => runAcpTurn(turn, { command: [program, ...args], env }),
  };
}
