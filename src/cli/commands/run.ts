import { TurnServiceService, SessionUpdate, type Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { PromptEnd } from "../../gen/talaria/types/v1/prompt.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { EXIT_INTERRUPTED } from "../exitCodes.js";
import type { GatewayClient } from "../gatewayClient.js";
import { askPrompt } from "../render/askPrompt.js";
import { TurnView } from "../render/turnView.js";

/** A turn as typed. */
export interface RunOptions {
  readonly agent: string;
  readonly text: string;
  readonly session?: string;
  readonly title?: string;
  readonly requestId?: string;
}

/**
 * Runs a turn. In a terminal it shows text, tools and prompts as they come; piped, the answer alone. The first interrupt stops the
 * turn, the second leaves it.
 * @returns the exit code of a turn that was stopped
 * @throws CliError where the turn ends otherwise than completed
 */
export async function run(context: CommandContext, options: RunOptions): Promise<number | undefined> {
  const gateway = await context.gateway();
  const { terminal } = context;
  const attended = terminal.canAsk && !context.json;
  const view = new TurnView(terminal, terminal.outIsTerminal && !context.json);
  const leave = new AbortController();
  const prompts = new Map<string, AbortController>();
  const stopper = stopOnInterrupt(context, gateway, leave);

  const request = {
    requestId: options.requestId ?? context.newRequestId(),
    target:
      options.session === undefined
        ? ({ $case: "agent", value: options.agent } as const)
        : ({ $case: "sessionId", value: options.session } as const),
    text: options.text,
    attachmentIds: [],
    headless: !attended,
    sessionTitle: options.title ?? "",
    trace: undefined,
    answersPrompts: attended,
  };
  let ended: Turn | undefined;
  try {
    for await (const { update } of gateway.stream(TurnServiceService.runTurn, request, { signal: leave.signal })) {
      if (update === undefined) continue;
      if (context.json) context.print(SessionUpdate.toJSON(update), () => "");
      const change = update.update;
      switch (change?.$case) {
        case "inputQueued":
          stopper.turn = change.value.turn;
          break;
        case "turnStarted":
          stopper.turn = change.value.turn;
          break;
        case "events":
          for (const event of change.value.events) view.show(event);
          break;
        case "promptRaised":
          if (attended && change.value.end === PromptEnd.PROMPT_END_UNSPECIFIED) {
            answer(context, gateway, view, change.value, prompts);
          }
          break;
        case "promptEnded":
          prompts.get(change.value.promptId)?.abort();
          break;
        case "turnEnded":
          ended = change.value.turn;
          break;
        default:
      }
      if (ended !== undefined) break;
    }
  } catch (caught) {
    if (leave.signal.aborted && RpcError.is(caught, "CANCELLED")) return EXIT_INTERRUPTED;
    throw caught;
  } finally {
    stopper.end();
    for (const prompt of prompts.values()) prompt.abort();
  }
  if (ended === undefined)
    throw new CliError("UNKNOWN_ERROR", "The gateway ended the stream before the turn had an outcome.", "");
  if (!context.json) view.finish(ended.result?.finalResponse ?? "");
  return conclude(ended);
}

function conclude(turn: Turn): number | undefined {
  if (turn.outcome === TurnOutcome.TURN_OUTCOME_COMPLETED) return undefined;
  if (turn.outcome === TurnOutcome.TURN_OUTCOME_INTERRUPTED) return EXIT_INTERRUPTED;
  const { failure } = turn;
  const reason = failure === undefined ? undefined : reasonOfNumber(failure.reason);
  const resets = failure?.resetsAt;
  const when = resets === undefined ? "" : ` It resets at ${new Date(Number(resets.seconds) * 1_000).toISOString()}.`;
  const billing = turn.result?.billingBlock?.billingUrl ?? "";
  const hint = [failure?.hint ?? "", billing === "" ? "" : `Billing: ${billing}`]
    .filter((part) => part !== "")
    .join(" ");
  const message = `${failure?.message ?? "The turn did not complete."}${when}`;
  throw new CliError(reason ?? "UNKNOWN_ERROR", message, hint);
}

function answer(
  context: CommandContext,
  gateway: GatewayClient,
  view: TurnView,
  prompt: Prompt,
  open: Map<string, AbortController>,
): void {
  const withdrawn = new AbortController();
  open.set(prompt.promptId, withdrawn);
  const asking = async (): Promise<void> => {
    view.breakLine();
    const given = await askPrompt(context.terminal, prompt, withdrawn.signal);
    if (given === undefined) return;
    await gateway.call(TurnServiceService.answerPrompt, {
      requestId: context.newRequestId(),
      promptId: prompt.promptId,
      answer: given,
    });
  };
  asking().catch((caught: unknown) => {
    context.terminal.err(caught instanceof Error ? caught.message : String(caught));
  });
}

interface Stopper {
  /** The turn that an interrupt stops. */
  turn: Turn | undefined;
  end(): void;
}

function stopOnInterrupt(context: CommandContext, gateway: GatewayClient, leave: AbortController): Stopper {
  let asked = false;
  const onInterrupt = (): void => {
    const executionId = stopper.turn?.executionId ?? "";
    if (asked || executionId === "") {
      leave.abort();
      return;
    }
    asked = true;
    context.terminal.err("Stopping the turn; interrupt again to leave it.");
    gateway
      .call(TurnServiceService.stopTurn, { requestId: context.newRequestId(), executionId })
      .catch((caught: unknown) => {
        context.terminal.err(caught instanceof Error ? caught.message : String(caught));
      });
  };
  const stopper: Stopper = {
    turn: undefined,
    end() {
      process.removeListener("SIGINT", onInterrupt);
    },
  };
  process.on("SIGINT", onInterrupt);
  return stopper;
}
