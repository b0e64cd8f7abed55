import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import type { UpdateLog } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const model = await startScriptedModel();
const here = (...path: readonly string[]): string => join(import.meta.dirname, ...path);
const good = [process.execPath, here("mcp", "goodServer.mjs")];
const recall = [process.execPath, here("hooks", "note.mjs"), "notes", "say", "Bob likes tea."];
const TOKEN = "mcp-token-0123456789";

const gateway = useTestGateway({
  // A busy machine takes its time over Stop; what is tested is that it comes to its end.
  budgets: { turnFinalWorkMs: 2_000, stopTermAfterMs: 2_500, stopKillAfterMs: 4_000, stopTotalMs: 6_000 },
  env: { ...process.env, TRACKER_TOKEN: TOKEN },
  agents: {
    tools: model.agent("tools", {
      tools: ["mcp_good_*"],
      mcp_servers: {
        good: { command: good, env: { TOKEN: { env: "TRACKER_TOKEN" } } },
        dead: { command: ["/no/such/server"] },
      },
      hooks: { memory_recall: [{ command: recall }] },
    }),
    stopped: model.agent("stopped", { mcp_servers: { good: { command: good } } }),
  },
});
afterAll(() => model.close());

function toolStarted(run: UpdateLog, name: string): Promise<true> {
  return run.until(`the start of ${name}`, () => {
    const events = run.items.flatMap(({ update }) => (update?.$case === "events" ? update.value.events : []));
    const found = events.some(({ event }) => event?.$case === "toolStarted" && event.value.name === name);
    return found || undefined;
  });
}

test("a model calls tools of a server that runs in the turn's group and is gone with it", async () => {
  model.script(
    "tools",
    calling(
      { id: "a", name: "mcp_good_add", arguments: { a: 2, b: 3 } },
      { id: "b", name: "mcp_good_environment", arguments: {} },
      { id: "c", name: "mcp_good_fail", arguments: {} },
    ),
    saying("Five."),
  );
  const run = gateway().client.run("tools", "add");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "Five." });
  const [first, second] = [await model.asked("tools", 1), await model.asked("tools", 2)];
  expect(first.body.tools?.map((tool) => tool.function.name)).toEqual(
    ["add", "environment", "fail", "picture", "wait", "leave"].map((name) => `mcp_good_${name}`),
  );
  expect(JSON.stringify(first.body.messages[0])).toContain("Bob likes tea.");
  const [sum, environment, failed] = second.body.messages.filter(({ role }) => role === "tool");
  expect(sum?.content).toBe("5");
  expect(failed?.content).toContain("no luck");
  const { pid, env } = JSON.parse(String(environment?.content)) as {
    readonly pid: number;
    readonly env: Readonly<Record<string, string>>;
  };
  expect(env["TOKEN"]).toBe(TOKEN);
  expect(env["TALARIA_OWNER_SOCKET"]).toBeUndefined();
  // Viewers see the result of the tool without the secret.
  expect(JSON.stringify(run.items, (_key, value: unknown) => (typeof value === "bigint" ? "" : value))).not.toContain(
    TOKEN,
  );
  await waitUntil("the server's end", () => !isAlive(readProcess(pid)));
});

test("Stop in the middle of a call leaves no server behind", async () => {
  model.script(
    "stopped",
    calling({ id: "e", name: "mcp_good_environment", arguments: {} }),
    calling({ id: "w", name: "mcp_good_wait", arguments: {} }),
  );
  const run = gateway().client.run("stopped", "wait");
  const second = await model.asked("stopped", 2);
  const result = second.body.messages.find(({ role }) => role === "tool")?.content;
  const { pid } = JSON.parse(String(result)) as { readonly pid: number };
  await toolStarted(run, "mcp_good_wait");
  await gateway().client.stop(await run.started());
  expect((await run.outcome()).outcome).toBe("INTERRUPTED");
  await waitUntil("the server's end", () => !isAlive(readProcess(pid)));
});
