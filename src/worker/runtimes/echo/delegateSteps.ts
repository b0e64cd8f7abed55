import { delegateTool } from "../../tools/delegateTool.js";
import type { EchoTurn } from "./echoTurn.js";

/** Gives tasks to child turns, all at once, through the tool that models have. A turn that has no such tool is refused like a model. */
export async function runChildren({ context }: EchoTurn, tasks: readonly string[]): Promise<string> {
  const tool = delegateTool(context);
  const answers = await Promise.all(
    tasks.map(async (task) => {
      const { result, isError } = await context.callTool({
        name: "delegate",
        arguments: { task },
        run: async (signal, callId) => {
          if (tool !== undefined) return tool.run({ task }, { callId, signal });
          const { answer } = await context.delegate(task);
          return JSON.stringify({ status: "completed", answer });
        },
      });
      return isError ? `child failed: ${result}` : `child: ${answerOf(result)}`;
    }),
  );
  return answers.join("\n");
}

function answerOf(result: string): string {
  const { status, answer, reason } = JSON.parse(result) as { status: string; answer?: string; reason?: string };
  return [status, ...(reason === undefined ? [] : [reason]), ...(answer === undefined ? [] : [answer])].join(" ");
}
