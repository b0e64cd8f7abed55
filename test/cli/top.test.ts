import { expect, test } from "vitest";

import { talariaCommand } from "./useTalaria.js";
import { PseudoTerminal } from "../kit/pseudoTerminal.js";
import { useServe } from "../kit/useServe.js";

const { home, serve } = useServe();

function top(of: string, columns = 120): PseudoTerminal {
  return new PseudoTerminal(`${process.execPath} ${talariaCommand} --home ${of} top`, { columns });
}

test("shows a turn that waits for a person, takes the answer and leaves", async () => {
  const where = home();
  const gateway = await serve(where);
  const client = gateway.connect();
  const turn = client.run("echo", "!approve rm -rf build");
  await turn.until("a prompt", () => turn.items.find(({ update }) => update?.$case === "promptRaised"));
  const screen = top(where);
  await screen.shows(/prompts 1/);
  await screen.shows(/echo\s+running/);
  screen.forget();
  screen.type("3");
  await screen.shows(/> run rm -rf build/);
  screen.type("a");
  await screen.shows(/1 once/);
  screen.type("1");
  await screen.shows(/Answered\./);
  await turn.until("the end", () => turn.items.find(({ update }) => update?.$case === "turnEnded"));
  screen.type("q");
  expect(await screen.ended()).toBe(0);
});

test("a Stop ends the turn that is selected", async () => {
  const where = home();
  const gateway = await serve(where);
  const turn = gateway.connect().run("echo", "!sleep 60000");
  const screen = top(where);
  await screen.shows(/echo\s+running/);
  screen.type("s");
  await screen.shows(/Asked to stop\./);
  await turn.until("the end", () => turn.items.find(({ update }) => update?.$case === "turnEnded"));
  screen.type("\u0003");
  expect(await screen.ended()).toBe(0);
});

test("outlives a restart of the gateway", async () => {
  const where = home();
  const first = await serve(where);
  const screen = top(where);
  await screen.shows(/epoch 1/);
  await first.kill();
  await screen.shows(/Not reachable, trying again/);
  screen.forget();
  await serve(where);
  await screen.shows(/epoch 2/);
  screen.type("q");
  expect(await screen.ended()).toBe(0);
});

test("fits 40 columns", async () => {
  const where = home();
  await serve(where);
  const screen = top(where, 40);
  await screen.shows(/AGENT/);
  const widest = Math.max(...screen.text.split(/\r?\n/).map((line) => Array.from(line).length));
  expect(widest).toBeLessThanOrEqual(40);
  screen.type("q");
  await screen.ended();
});
