import { systemRandom } from "../../../base/random.js";
import type { ClientConnection, ContentBlock, InitializeResponse, PromptResponse } from "../../packages/acpPackages.js";
import { isRecord } from "../../isRecord.js";
import type { TurnContext } from "../../turnContext.js";
import { inputRowOf } from "../conversation/inputRowOf.js";
import { readImages } from "../conversation/readImages.js";
import { readRows } from "../conversation/readRows.js";
import type { RuntimeAnswer, RuntimeFailure } from "../runtime.js";
import { AgentFailure, failureOf } from "./agentFailure.js";
import { AgentFiles } from "./agentFiles.js";
import { agentPrompt } from "./agentPrompt.js";
import { explainFailure, type ProtocolError } from "./explainFailure.js";
import { startAgent, type AgentProcess, type AgentProgram } from "./agentProcess.js";
import { approvalOf, permissionOf } from "./permission.js";
import { TurnUpdates } from "./turnUpdates.js";

/** How long an agent may take to answer the calls before its turn, milliseconds. */
const ANSWER_MS = 60_000;
/**
 * How long it may take to end its turn once it was asked to stop, milliseconds. The worker is not told when its owner will kill the
 * group: this leaves time for a receipt also under an owner that waits for a few seconds alone.
 */
const CANCEL_MS = 1_000;
/** A conversation mostly ends because its agent does, which is told in better words: so long they are waited for, milliseconds. */
const LAST_WORDS_MS = 200;
/** JSON-RPC code of a request that cannot be met as it is. */
const INVALID_PARAMS = -32_602;

/** Runs one turn with an agent: starts it, asks it, passes on what it tells, and ends it. */
export async function runAcpTurn(context: TurnContext, program: AgentProgram): Promise<RuntimeAnswer> {
  const updates = new TurnUpdates(context);
  let agent: AgentProcess;
  try {
    agent = await startAgent(program, context.clock, () => updates.behind());
  } catch (error) {
    return failed("", failureOf(error));
  }
  try {
    const { stopReason, name } = await converse(context, agent, updates);
    await updates.close();
    return { text: updates.text, provider: name, ...endOf(stopReason, context.signal.aborted) };
  } catch (error) {
    await updates.close();
    if (context.signal.aborted) return { text: updates.text };
    return failed(updates.text, failureOf(error));
  } finally {
    await agent.kill();
  }
}

async function converse(
  context: TurnContext,
  agent: AgentProcess,
  updates: TurnUpdates,
): Promise<{ readonly stopReason: PromptResponse["stopReason"]; readonly name: string }> {
  const acp = await import("../../packages/acpPackages.js");
  const { session, fs } = acp.methods.client;
  const { assignment, clock, signal } = context;
  const cwd = assignment.workspace === "" ? process.cwd() : assignment.workspace;
  const files = new AgentFiles(cwd, systemRandom);
  const onFile = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw new acp.RequestError(INVALID_PARAMS, error instanceof Error ? error.message : "The file cannot be had.");
    }
  };
  const connection = acp
    .client({ name: "talaria" })
    .onNotification(session.update, ({ params }) => {
      updates.take(params.update);
    })
    .onRequest(session.requestPermission, async ({ params }) => {
      const decision = await context.approve(approvalOf(params));
      if (decision.allowed) await updates.begin(params.toolCall);
      return { outcome: permissionOf(decision, params.options) };
    })
    .onRequest(fs.readTextFile, ({ params }) =>
      onFile(async () => ({ content: await files.read(params.path, params.line ?? 1, params.limit ?? undefined) })),
    )
    .onRequest(fs.writeTextFile, ({ params }) =>
      onFile(async () => {
        await files.write(params.path, params.content);
        return {};
      }),
    )
    .connect(acp.ndJsonStream(agent.input, agent.output));
  const guarded = async <Result extends object>(
    what: string,
    work: Promise<Result>,
    field: keyof Result & string,
    ms?: number,
  ): Promise<Result> => {
    const answer: unknown = await answered({ context, agent, connection }, what, work, ms);
    // The library passes on whatever the agent answers.
    if (isRecord(answer) && answer[field] !== undefined && answer[field] !== null) return answer as Result;
    throw new AgentFailure("RUNTIME_FAILED", `The agent's answer to ${what} holds no ${field}.`);
  };
  const { agent: calls } = connection;
  try {
    const about = await guarded(
      "initialize",
      calls.request("initialize", {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
        clientInfo: { name: "talaria", version: "1" },
      }),
      "protocolVersion",
      ANSWER_MS,
    );
    if (about.protocolVersion !== acp.PROTOCOL_VERSION) {
      const [theirs, ours] = [String(about.protocolVersion), String(acp.PROTOCOL_VERSION)];
      throw new AgentFailure("RUNTIME_CONFIG", `The agent speaks revision ${theirs} of its protocol, and not ${ours}.`);
    }
    const { sessionId } = await guarded(
      "session/new",
      calls.request("session/new", { cwd, mcpServers: [] }),
      "sessionId",
      ANSWER_MS,
    );
    signal.throwIfAborted();
    const prompt = await promptOf(context, about);
    const end = guarded("session/prompt", calls.request("session/prompt", { sessionId, prompt }), "stopReason");
    const onStop = (): void => {
      calls.notify("session/cancel", { sessionId }).catch(() => undefined);
    };
    signal.addEventListener("abort", onStop, { once: true });
    try {
      const { stopReason } = await end;
      return { stopReason, name: about.agentInfo?.name ?? "" };
    } finally {
      signal.removeEventListener("abort", onStop);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const isAnswer = (caught: unknown): caught is ProtocolError => caught instanceof acp.RequestError;
    throw await explainFailure(error, agent, clock, isAnswer, () => connection.signal.aborted);
  } finally {
    connection.close();
  }
}

interface Waiting {
  readonly context: TurnContext;
  readonly agent: AgentProcess;
  readonly connection: ClientConnection;
}

/** Waits for an agent's answer, no longer than `ms`; for one that was asked to stop, no longer than its time for that. */
async function answered<Result>(
  { context: { clock, signal }, agent, connection }: Waiting,
  what: string,
  work: Promise<Result>,
  ms?: number,
): Promise<Result> {
  const cancels: (() => void)[] = [];
  const over = new Promise<never>((_, reject) => {
    const after = (limitMs: number, error: () => Error): void => {
      cancels.push(
        clock.after(limitMs, () => {
          reject(error());
        }),
      );
    };
    if (ms !== undefined) {
      after(
        ms,
        () => new AgentFailure("RUNTIME_FAILED", `The agent gave no answer to ${what} in ${String(ms / 1_000)} s.`),
      );
    }
    const onStop = (): void => {
      after(CANCEL_MS, () => signal.reason as Error);
    };
    if (signal.aborted) onStop();
    else signal.addEventListener("abort", onStop, { once: true });
    cancels.push(() => {
      signal.removeEventListener("abort", onStop);
    });
    void agent.ended.then((how) => {
      reject(new AgentFailure("RUNTIME_FAILED", `The agent ${how} in the middle of ${what}.`));
    });
    void connection.closed.then(() => {
      const message = `The agent ended its conversation in the middle of ${what}.`;
      after(LAST_WORDS_MS, () => new AgentFailure("RUNTIME_FAILED", message));
    });
  });
  over.catch(() => undefined);
  try {
    return await Promise.race([work, over]);
  } finally {
    work.catch(() => undefined);
    for (const cancel of cancels) cancel();
  }
}

async function promptOf({ assignment, store }: TurnContext, about: InitializeResponse): Promise<ContentBlock[]> {
  const { policy, input, executionId, rosterInstructions } = assignment;
  const rows = await readRows(store);
  const inputRow = inputRowOf({ rows, executionId, attempt: input.attempt });
  const text = agentPrompt({
    instructions: [policy.instructions, rosterInstructions, policy.ephemeralInstructions],
    rows: rows.filter((row) => row !== inputRow && !row.compacted),
    attribution: input.attribution,
    text: input.text,
  });
  const images = await readImages(input.attachments);
  if (images.length > 0 && about.agentCapabilities?.promptCapabilities?.image !== true) {
    throw new AgentFailure("INVALID_FIELD", "The agent takes no images.");
  }
  return [
    { type: "text", text },
    ...images.map(({ mediaType, data }) => ({
      type: "image" as const,
      mimeType: mediaType,
      data: Buffer.from(data).toString("base64"),
    })),
  ];
}

function endOf(stopReason: PromptResponse["stopReason"], stopped: boolean): Partial<RuntimeAnswer> {
  if (stopped) return {};
  switch (stopReason) {
    case "end_turn":
      return {};
    case "max_tokens":
      return { partial: true };
    case "max_turn_requests":
      return { partial: true, modelCallLimit: true };
    case "refusal":
      return { failure: { reason: "RUNTIME_FAILED", message: "The agent refuses to go on.", retryable: false } };
    case "cancelled":
      return { failure: { reason: "RUNTIME_FAILED", message: "The agent cancelled its turn.", retryable: false } };
    default: {
      const message = `The agent ended its turn for a reason that is not known: ${String(stopReason).slice(0, 64)}.`;
      return { failure: { reason: "RUNTIME_FAILED", message, retryable: false } };
    }
  }
}

function failed(text: string, failure: RuntimeFailure): RuntimeAnswer {
  return { text, partial: text !== "", failure };
}
