// An agent of the Agent Client Protocol without a mind: it does what the last line of its prompt says. Messages are lines of JSON.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [mode = "good"] = process.argv.slice(2);
const waiting = new Map();
let ids = 100;
let cancelled = () => undefined;
const session = "session-1";

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const call = (method, params) =>
  new Promise((resolve) => {
    ids += 1;
    waiting.set(ids, resolve);
    send({ id: ids, method, params: { sessionId: session, ...params } });
  });
const update = (change) => send({ method: "session/update", params: { sessionId: session, update: change } });
const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

/** @returns {Promise<string>} why the turn ends */
async function perform(prompt) {
  const text = prompt.map((part) => part.text ?? `[${part.type}]`).join("");
  const line = text.trim().split("\n").at(-1) ?? "";
  const [verb = "", ...words] = line.split(" ");
  const rest = words.join(" ");
  switch (verb) {
    case "!prompt":
      say(text);
      return "end_turn";
    case "!think":
      update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: rest } });
      say("thought");
      return "end_turn";
    case "!tool":
      say("Looking.");
      update({
        sessionUpdate: "tool_call",
        toolCallId: "t1",
        title: "Look",
        kind: "read",
        status: "pending",
        rawInput: { at: rest },
      });
      update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "in_progress" });
      update({
        sessionUpdate: "tool_call_update",
        toolCallId: "t1",
        status: rest === "nowhere" ? "failed" : "completed",
        content: [{ type: "content", content: { type: "text", text: `seen ${rest}` } }],
      });
      say("Done.");
      return "end_turn";
    case "!open":
      update({
        sessionUpdate: "tool_call",
        toolCallId: "t1",
        title: "Never ends",
        kind: "other",
        status: "in_progress",
      });
      return "end_turn";
    case "!permit": {
      const options = [
        { optionId: "always", name: "Always", kind: "allow_always" },
        { optionId: "once", name: "Once", kind: "allow_once" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ];
      const toolCall = { toolCallId: "p1", title: "Run it", kind: "execute", rawInput: { command: rest } };
      const { outcome } = await call("session/request_permission", { toolCall, options });
      const status = outcome.optionId === "no" || outcome.outcome === "cancelled" ? "failed" : "completed";
      update({ sessionUpdate: "tool_call_update", toolCallId: "p1", status, rawOutput: "ran" });
      say(`outcome: ${outcome.optionId ?? outcome.outcome}`);
      return outcome.outcome === "cancelled" ? "cancelled" : "end_turn";
    }
    case "!read":
    case "!write": {
      const method = verb === "!read" ? "fs/read_text_file" : "fs/write_text_file";
      const answer = await call(method, { path: rest, content: "written by the agent\n" });
      say(answer.error === undefined ? `had: ${answer.content ?? "ok"}` : `refused: ${answer.error.message}`);
      return "end_turn";
    }
    case "!wait":
      say("waiting");
      await new Promise((resolve) => (cancelled = resolve));
      return "cancelled";
    case "!deaf":
      say("deaf");
      await new Promise(() => undefined);
      return "end_turn";
    case "!child": {
      const child = spawn("/bin/sh", ["-c", 'trap "" TERM; sleep 86400'], { stdio: "ignore" });
      say(`child: ${child.pid}`);
      return "end_turn";
    }
    case "!crash":
      process.stderr.write("the sky is falling\n");
      process.exit(3);
      return "end_turn";
    case "!refuse":
      return "refusal";
    case "!reason":
      return rest === "" ? undefined : rest;
    case "!hang-up":
      say("half");
      process.stdout.end();
      await new Promise(() => undefined);
      return "end_turn";
    case "!cwd":
      say(process.cwd());
      return "end_turn";
    case "!env":
      say(String(process.env[rest] ?? "unset"));
      return "end_turn";
    case "!error":
      throw Object.assign(new Error("no quota left"), { code: -32603 });
    default:
      for (const word of line.match(/\s*\S+/g) ?? []) say(word);
      return "end_turn";
  }
}

async function serve({ id, method, params }) {
  switch (method) {
    case "initialize":
      if (mode === "silent") return;
      if (mode === "strange") for (let line = 0; line < 200; line++) process.stdout.write("hello, I am no agent\n");
      send({
        id,
        result: {
          protocolVersion: mode === "version" ? 9 : 1,
          agentCapabilities: {},
          agentInfo: { name: "fake", version: "1" },
        },
      });
      return;
    case "session/new":
      if (mode === "forgetful") return;
      if (mode === "auth") send({ id, error: { code: -32000, message: "Authentication required" } });
      else send({ id, result: { sessionId: session } });
      return;
    case "session/prompt":
      try {
        send({ id, result: { stopReason: await perform(params.prompt) } });
      } catch (error) {
        send({ id, error: { code: error.code ?? -32603, message: error.message } });
      }
      return;
    case "session/cancel":
      cancelled();
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method !== undefined) void serve(message);
  else waiting.get(message.id)?.(message.error === undefined ? (message.result ?? {}) : { error: message.error });
});
