import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import { type Prompt, PromptEnd } from "../../gen/talaria/types/v1/prompt.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayClient } from "../gatewayClient.js";
import { askPrompt } from "../render/askPrompt.js";
import type { TurnView } from "../render/turnView.js";

/** Asks the prompts of a turn at the terminal, one after the other. */
export interface PromptQueue {
  /** Takes a prompt that was raised. */
  raise(prompt: Prompt): void;
  /** Takes one back that was answered elsewhere, or ended. */
  end(prompt: Prompt): void;
  /** Takes all of them back. */
  close(): void;
}

/** Makes the queue. The view holds its output back while a person is asked. */
export function createPromptQueue(context: CommandContext, gateway: GatewayClient, view: TurnView): PromptQueue {
  const open = new Map<string, AbortController>();
  let tail: Promise<void> = Promise.resolve();
  const ask = async (prompt: Prompt, withdrawn: AbortController): Promise<void> => {
    if (withdrawn.signal.aborted) return;
    view.hold();
    try {
      const answer = await askPrompt(context.terminal, prompt, withdrawn.signal);
      if (answer === undefined) {
        context.terminal.out("\n  (withdrawn)\n");
        return;
      }
      const { promptId } = prompt;
      await gateway.call(TurnServiceService.answerPrompt, { requestId: context.newRequestId(), promptId, answer });
    } catch (caught) {
      context.terminal.err(caught instanceof Error ? caught.message : String(caught));
    } finally {
      open.delete(prompt.promptId);
      view.release();
    }
  };
  return {
    raise(prompt) {
      if (prompt.end !== PromptEnd.PROMPT_END_UNSPECIFIED || open.has(prompt.promptId)) return;
      const withdrawn = new AbortController();
      open.set(prompt.promptId, withdrawn);
      tail = tail.then(() => ask(prompt, withdrawn));
    },
    end({ promptId }) {
      open.get(promptId)?.abort();
    },
    close() {
      for (const withdrawn of open.values()) withdrawn.abort();
    },
  };
}
