import { buffer as readAll } from "node:stream/consumers";

import { systemClock } from "../../base/clock.js";
import { nearestKey } from "../../base/config/nearestKey.js";
import { wholeAnswer } from "../../client/wholeAnswer.js";
import { AgentServiceService } from "../../gen/talaria/gateway/v1/agent_service.js";
import { SessionUpdate, type Turn, TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { EXIT_INTERRUPTED } from "../exitCodes.js";
import type { GatewayClient } from "../gatewayClient.js";
import type { PolicyOptions } from "../register/policyOptions.js";
import { turnSummary } from "../render/turnSummary.js";
import { TurnView } from "../render/turnView.js";
import { createSession } from "../run/createSession.js";
import { createPromptQueue, type PromptQueue } from "../run/promptQueue.js";
import { turnFailure } from "../run/turnFailure.js";
import { createTurnStopper, type TurnStopper } from "../run/turnStopper.js";
import { uploadAttachments } from "../run/uploadAttachments.js";
import { writeUsageFile } from "../run/usageFile.js";
import { inTrace } from "../tracing/inTrace.js";

/** A turn as typed. */
export interface RunOptions extends PolicyOptions {
  readonly agent: string;
  /** The text; `-` reads standard input. */
  readonly text: string;
  readonly session?: string;
  readonly title?: string;
  readonly requestId?: string;
  /** Where to write what the turn has used. */
  readonly usageFile?: string;
  /** Images that go with the text. */
  readonly attach?: readonly string[];
}

/**
 * Runs a turn. In a terminal it shows text, tools and prompts as they come; piped, the answer alone. The first interrupt stops the
 * turn, the second leaves it.
 * @returns the exit code of a turn that was stopped
 * @throws CliError where the turn ends otherwise than completed
 */
export function run(context: CommandContext, options: RunOptions): Promise<number | undefined> {
  return inTrace(context, "talaria run", (gateway) => runTurn(context, gateway, options));
}

async function runTurn(
  context: CommandContext,
  gateway: GatewayClient,
  options: RunOptions,
): Promise<number | undefined> {
  const { terminal } = context;
  const attended = terminal.canAsk && !context.json;
  const live = terminal.outIsTerminal && !context.json;
  const view = new TurnView(terminal, live);
  const leave = new AbortController();
  const stopper = createTurnStopper(context, gateway, leave);
  const prompts = attended ? createPromptQueue(context, gateway, view) : undefined;
  let ended: Turn | undefined;
  try {
    const request = await requestOf(context, gateway, options, attended);
    for await (const { update } of gateway.stream(TurnServiceService.runTurn, request, { signal: leave.signal })) {
      if (update === undefined) continue;
      if (context.json) context.print(SessionUpdate.toJSON(update), () => "");
      ended = follow(update, { view, stopper, prompts });
      if (ended !== undefined) break;
    }
  } catch (caught) {
    if (leave.signal.aborted && RpcError.is(caught, "CANCELLED")) return EXIT_INTERRUPTED;
    throw RpcError.is(caught, "UNKNOWN_AGENT") ? await withNearest(gateway, options.agent, caught) : caught;
  } finally {
    stopper.end();
    prompts?.close();
  }
  if (ended === undefined) {
    const hint = "Ask again with the same --request-id: the turn runs once.";
    throw new CliError("UNKNOWN_ERROR", "The gateway ended the stream before the turn had an outcome.", hint);
  }
  if (options.usageFile !== undefined) saveUsage(options.usageFile, ended);
  if (!context.json) view.finish(await wholeAnswer(gateway, ended));
  if (live) terminal.err(terminal.paint("err", ["dim"], turnSummary(ended)));
  return conclude(ended);
}

async function requestOf(context: CommandContext, gateway: GatewayClient, options: RunOptions, attended: boolean) {
  const requestId = options.requestId ?? context.newRequestId();
  const text = options.text === "-" ? await readText() : options.text;
  const attachmentIds = await uploadAttachments(gateway, requestId, options.attach ?? []);
  const sessionId = options.session ?? (await sessionWithout(gateway, requestId, options));
  return {
    requestId,
    target:
      sessionId === undefined
        ? ({ $case: "agent", value: options.agent } as const)
        : ({ $case: "sessionId", value: sessionId } as const),
    text,
    attachmentIds,
    headless: !attended,
    sessionTitle: options.title ?? "",
    trace: undefined,
    answersPrompts: attended,
  };
}

/** Standard input, as UTF-8. @throws CliError INVALID_FIELD where it is something else: what is sent is what was meant. */
async function readText(): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readAll(process.stdin));
  } catch (caught) {
    if (!(caught instanceof TypeError)) throw caught;
    const hint = "Give text in UTF-8; iconv turns other encodings into it.";
    throw new CliError("INVALID_FIELD", "Standard input is not UTF-8 text.", hint, { cause: caught });
  }
}

/** Creates the session of a turn that is to run with less than its agent has; undefined where nothing is left out. */
async function sessionWithout(
  gateway: GatewayClient,
  requestId: string,
  { agent, title, safeMode, ignoreUserConfig, ignoreRules }: RunOptions,
): Promise<string | undefined> {
  if (safeMode !== true && ignoreUserConfig !== true && ignoreRules !== true) return undefined;
  const session = await createSession(gateway, requestId, { agent, title, safeMode, ignoreUserConfig, ignoreRules });
  return session.sessionId;
}

/** The refusal of a name, with the agent that it most likely meant. */
async function withNearest(gateway: GatewayClient, name: string, refusal: RpcError): Promise<RpcError> {
  const { agents } = await gateway.call(AgentServiceService.listAgents, { pageSize: 100, pageToken: "" });
  const near = nearestKey(
    name,
    agents.map((agent) => agent.name),
  );
  if (near === undefined) return refusal;
  const hint = `Did you mean ${near}? See: talaria agents`;
  return new RpcError("UNKNOWN_AGENT", { message: refusal.message, hint, ...refusal.details, cause: refusal });
}

interface Followers {
  readonly view: TurnView;
  readonly stopper: TurnStopper;
  readonly prompts: PromptQueue | undefined;
}

/** Shows one update. @returns the turn where it has ended. */
function follow({ update }: SessionUpdate, { view, stopper, prompts }: Followers): Turn | undefined {
  switch (update?.$case) {
    case "inputQueued": {
      const { turn } = update.value;
      stopper.seen(turn);
      const before = (turn?.position ?? 0) - 1;
      if (before > 0) view.note(`Waiting behind ${String(before)} ${before === 1 ? "input" : "inputs"}.`);
      return undefined;
    }
    case "turnStarted":
      stopper.seen(update.value.turn);
      return undefined;
    case "events":
      for (const event of update.value.events) view.show(event);
      return undefined;
    case "promptRaised":
      prompts?.raise(update.value);
      return undefined;
    case "promptEnded":
      prompts?.end(update.value);
      return undefined;
    case "turnEnded":
      return update.value.turn;
    default:
      return undefined;
  }
}

function saveUsage(file: string, turn: Turn): void {
  try {
    writeUsageFile(file, turn);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    const hint = "The turn has ended all the same: do not run it again for this.";
    throw new CliError("STORAGE_UNAVAILABLE", `The usage cannot be written to ${file}: ${code}.`, hint, {
      cause: error,
    });
  }
}

function conclude(turn: Turn): number | undefined {
  switch (turn.outcome) {
    case TurnOutcome.TURN_OUTCOME_COMPLETED:
      return undefined;
    case TurnOutcome.TURN_OUTCOME_INTERRUPTED:
    case TurnOutcome.TURN_OUTCOME_CANCELLED:
      return EXIT_INTERRUPTED;
    default:
      throw turnFailure(turn, systemClock.now());
  }
}
