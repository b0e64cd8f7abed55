import type { Client } from "@grpc/grpc-js";
import { type RunTurnRequest, TurnPhase, TurnServiceService } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";

/** Longest wait for a turn to run, milliseconds. */
const LIMIT_MS = 120_000;

let requests = 0;

function requestOf(target: NonNullable<RunTurnRequest["target"]>, text: string): RunTurnRequest {
  requests += 1;
  return {
    requestId: `bench-${String(process.pid)}-${String(requests)}`,
    target,
    text,
    attachmentIds: [],
    headless: true,
    sessionTitle: "",
    trace: undefined,
    answersPrompts: false,
  };
}

/** Runs a turn to its end, in a session, or in a new one of the agent `main`. */
export async function runTurn(
  client: Client,
  text: string,
  sessionId?: string,
): Promise<{ readonly sessionId: string; readonly inputId: string; readonly resultMs: number }> {
  const began = performance.now();
  const target = sessionId === undefined ? { $case: "agent" as const, value: "main" } : sessionTarget(sessionId);
  for await (const { update } of readStream(client, TurnServiceService.runTurn, requestOf(target, text))) {
    if (update?.update?.$case !== "turnEnded") continue;
    const { turn } = update.update.value;
    return { sessionId: turn?.sessionId ?? "", inputId: turn?.inputId ?? "", resultMs: performance.now() - began };
  }
  throw new Error("the turn's stream ended before the turn");
}

/** Starts a turn of the agent `main` and leaves it once it runs. */
export async function beginTurn(client: Client, text: string): Promise<void> {
  const request = requestOf({ $case: "agent", value: "main" }, text);
  const limit = { timeoutMs: LIMIT_MS };
  for await (const { update } of readStream(client, TurnServiceService.runTurn, request, limit)) {
    const change = update?.update;
    if (change?.$case === "phaseChanged" && change.value.phase === TurnPhase.TURN_PHASE_RUNNING) return;
    if (change?.$case === "turnEnded") throw new Error(`a turn ended that should run: ${text}`);
  }
  throw new Error("the turn's stream ended before the turn ran");
}

function sessionTarget(value: string): NonNullable<RunTurnRequest["target"]> {
  return { $case: "sessionId", value };
}
