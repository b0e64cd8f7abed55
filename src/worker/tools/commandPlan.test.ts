import { expect, test } from "vitest";

import { commandPlan, type CommandSite } from "./commandPlan.js";

const site = (more: Partial<CommandSite> = {}): CommandSite => ({
  shell: "/bin/sh",
  workspace: "/home/t/agents/a/workspace",
  sandbox: false,
  user: "",
  isRoot: false,
  programs: { bwrap: undefined, runuser: undefined, sudo: undefined },
  hidden: ["/tmp", "/home/t"],
  ...more,
});
const argv = (given: CommandSite, outlives = false): readonly string[] | string => {
  const plan = commandPlan("ls", given, outlives);
  return plan.kind === "run" ? plan.argv : plan.why;
};
const inner = ["/bin/sh", "-c", "exec 2>&1\nls"];

test("a plain command runs in the shell", () => {
  expect(argv(site())).toEqual(inner);
});

test("bubblewrap hides folders before it shows the workspace, and dies with the worker unless it outlives it", () => {
  const boxed = site({ sandbox: true, programs: { bwrap: "/usr/bin/bwrap", runuser: undefined, sudo: undefined } });
  const plan = argv(boxed);
  expect(plan.slice(-3)).toEqual(inner);
  expect(plan[0]).toBe("/usr/bin/bwrap");
  expect(plan).toContain("--die-with-parent");
  expect(plan.indexOf("--tmpfs")).toBeLessThan(plan.indexOf("--bind"));
  // The folder of the tools is hidden again behind the workspace that holds it.
  expect(plan.slice(plan.indexOf("--bind")).slice(0, 5)).toEqual([
    "--bind",
    boxed.workspace,
    boxed.workspace,
    "--tmpfs",
    `${boxed.workspace}/.talaria`,
  ]);
  expect(argv(boxed, true)).not.toContain("--die-with-parent");
});

test("another user is had by root or by sudo", () => {
  const programs = { bwrap: undefined, runuser: "/sbin/runuser", sudo: "/usr/bin/sudo" };
  expect(argv(site({ user: "bob", isRoot: true, programs }))).toEqual(["/sbin/runuser", "-u", "bob", "--", ...inner]);
  expect(argv(site({ user: "bob", programs }))).toEqual(["/usr/bin/sudo", "-n", "-u", "bob", "--", ...inner]);
});

test("what cannot be had is refused, and never left out", () => {
  expect(argv(site({ sandbox: true }))).toMatch(/bwrap is not installed/);
  expect(argv(site({ user: "bob" }))).toMatch(/as bob, and that takes root or sudo/);
  expect(argv(site({ user: "bob", isRoot: true }))).toMatch(/runuser is not installed/);
});
