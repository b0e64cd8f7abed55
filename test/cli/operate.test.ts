import { createInterface } from "node:readline";
import { expect, test } from "vitest";

import { rowsOf } from "../kit/serveProcess.js";
import { untilBusy } from "../kit/untilBusy.js";
import { begin, serve, talaria } from "./useTalaria.js";

test("deliveries are listed by state, told apart as dead letters, withdrawn and redriven", async () => {
  const { home } = await serve();
  const at = (...args: readonly string[]) => talaria("--home", home, ...args);
  await at("dm", "send", "main", "Ping", "--wait");
  const failed = await at("dm", "send", "main", "!fail PROVIDER_AUTH The key is refused.", "--wait");
  expect(failed.code).not.toBe(0);

  const ids = async (...more: readonly string[]): Promise<readonly string[]> => {
    const { stdout, stderr } = await at("--json", "deliveries", "list", ...more);
    expect(stderr).toBe("");
    return (JSON.parse(stdout) as { deliveryId: string }[]).map(({ deliveryId }) => deliveryId);
  };
  const [dead = "", replied = ""] = await ids();
  expect(await ids("--state", "replied")).toEqual([replied]);
  expect(await ids("--dead")).toEqual([dead]);
  expect(await ids("--state", "failed", "--dead")).toEqual([dead]);
  expect(await ids("--state", "queued")).toEqual([]);
  expect(await ids("--gateway", "nowhere")).toEqual([]);
  expect((await at("deliveries")).stdout).toContain(dead);
  expect((await at("deliveries", "list", "--state", "queued", "--dead")).code).toBe(64);
  expect((await at("deliveries", "list", "--state", "lost")).stderr).toContain("queued, claimed");

  expect((await at("deliveries", "show", dead)).stdout).toMatch(/^failure +.*The key is refused/m);
  expect((await at("deliveries", "cancel", replied)).code).not.toBe(0);
  expect((await at("deliveries", "redrive", dead)).stdout).toMatch(new RegExp(`^${dead} \\w+, epoch 2\n$`));
  expect((await at("deliveries", "watch", dead)).stdout).toContain("The key is refused");
});

test("a turn that a killed gateway leaves in doubt holds its session until it is acknowledged", async () => {
  const first = await serve();
  const { home } = first;
  const at = (...args: readonly string[]) => talaria("--home", home, ...args);
  const turn = begin("--home", home, "--json", "run", "main", "!spin 60000");
  // A worker whose loop is busy cannot say how far it came before it dies with its gateway.
  for await (const line of createInterface({ input: turn.child.stdout }))
    if (line.includes("TURN_PHASE_RUNNING")) break;
  const [worker] = rowsOf<{ pid: number }>(home, "SELECT pid FROM executions JOIN launches USING (launch_id)");
  await untilBusy(worker?.pid ?? 0);
  const [{ sessionId }] = JSON.parse((await at("--json", "sessions")).stdout) as [{ sessionId: string }];
  const running = await at("sessions", "acknowledge", sessionId);
  expect(running.code).toBe(76);
  expect(running.stderr).toContain("is not paused");
  first.signal("SIGKILL");
  await first.ended;
  await turn.ended;

  await serve(home);
  expect((await at("doctor", "--offline")).stdout).toContain("talaria sessions acknowledge SESSION");
  const other = `exe_${"0".repeat(26)}`;
  expect((await at("sessions", "acknowledge", sessionId, "--execution", other)).code).toBe(76);
  expect(await at("sessions", "acknowledge", sessionId)).toMatchObject({ code: 0, stdout: `${sessionId} goes on.\n` });
  expect((await at("doctor", "--offline")).stdout).not.toContain("unknown");
  expect((await at("sessions", "acknowledge", sessionId)).code).toBe(76);
});
