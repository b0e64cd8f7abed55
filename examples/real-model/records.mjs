// What a gateway has on record of its agents' work.
import { setTimeout as pause } from "node:timers/promises";
import { DirectMessageService, SessionService } from "../../dist/client/index.js";

/** States of a session in which nothing runs and nothing waits. */
const IDLE = 1;
/** First state of a delivery that has ended. */
const ENDED = 3;
/** Longest wait for the agents to fall silent, milliseconds. */
const SILENCE_MS = 300_000;

/**
 * @typedef {ReturnType<typeof import("../../dist/client/index.js").connectTalaria>} Talaria
 * @param {Talaria} talaria @param {string} sessionId @returns {Promise<{ turns: any[], rows: any[] }>} the session whole
 */
export async function exportSession(talaria, sessionId) {
  /** @type {{ turns: any[], rows: any[] }} */
  const found = { turns: [], rows: [] };
  for await (const { part } of talaria.stream(SessionService.exportSession, { sessionId })) {
    if (part?.$case === "turn") found.turns.push(part.value);
    if (part?.$case === "message") found.rows.push(part.value);
  }
  return found;
}

/** @param {Talaria} talaria @returns {Promise<any[]>} every delivery, newest first */
export async function allDeliveries(talaria) {
  const found = [];
  for (let pageToken = "", more = true; more; more = pageToken !== "") {
    const page = await talaria.call(DirectMessageService.listDeliveries, {
      pageSize: 100,
      pageToken,
      states: [],
      agent: "",
      gateway: "",
    });
    found.push(...page.deliveries);
    pageToken = page.nextPageToken;
  }
  return found;
}

/** Waits until every message has ended, with its reply told, and no session has work. @param {Talaria} talaria */
export async function untilSilent(talaria) {
  const limit = Date.now() + SILENCE_MS;
  // Twice in a row: the looks are no single moment.
  for (let silent = 0; ;) {
    const open = (await allDeliveries(talaria)).filter(({ state }) => state < ENDED);
    const busy = [];
    for await (const { state, agent } of talaria.sessions()) if (state !== IDLE) busy.push(agent);
    silent = open.length === 0 && busy.length === 0 ? silent + 1 : 0;
    if (silent === 2) return;
    if (Date.now() > limit) {
      throw new Error(`the agents do not fall silent: ${open.length} messages are open, busy: ${busy.join(", ")}`);
    }
    await pause(250);
  }
}

/** Makes the agents forget: each run begins with empty conversations. @param {Talaria} talaria */
export async function resetSessions(talaria) {
  for await (const { sessionId } of talaria.sessions()) {
    await talaria.call(SessionService.resetSession, { requestId: talaria.newRequestId(), sessionId });
  }
}

/** @param {Talaria} talaria @param {string} agent @returns {Promise<string>} the id of its `Bot Chat`; empty for none */
export async function botChatOf(talaria, agent) {
  for await (const { name, botChatSessionId } of talaria.agents()) if (name === agent) return botChatSessionId;
  return "";
}

/**
 * The calls that a turn made, each with its result.
 * @param {readonly any[]} rows of its session @param {string} executionId
 * @returns {{ name: string, args: any, result: string }[]}
 */
export function callsOf(rows, executionId) {
  const own = rows.filter((row) => row.executionId === executionId);
  return own
    .flatMap(({ toolCalls }) => toolCalls)
    .map(({ toolCallId, name, argumentsJson }) => ({
      name,
      args: parsed(argumentsJson),
      result: own.find((row) => row.toolCallId === toolCallId)?.text ?? "",
    }));
}

/** @param {string} json @returns {any} undefined where it is none: an answer that was cut in a call */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
