import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

import { TerminalSandbox, type Policy } from "../../gen/talaria/types/v1/policy.js";
import type { CommandSite } from "./commandPlan.js";

/** Looks at the machine for what an agent's commands need. */
export function commandSite(
  policy: Pick<Policy, "terminalSandbox" | "terminalUser">,
  workspace: string,
  environment: Readonly<Record<string, string | undefined>>,
): CommandSite {
  const find = (name: string): string | undefined => findProgram(name, environment["PATH"] ?? "");
  const socket = environment["TALARIA_OWNER_SOCKET"];
  const hidden = [
    "/tmp",
    environment["HOME"],
    // A workspace lies in its agent's folder, and that in the gateway's home with its keys and sessions.
    workspace.endsWith("/workspace") ? dirname(dirname(dirname(workspace))) : undefined,
    socket === undefined ? undefined : dirname(socket),
  ];
  return {
    shell: find("bash") ?? "/bin/sh",
    workspace,
    sandbox: policy.terminalSandbox === TerminalSandbox.TERMINAL_SANDBOX_BUBBLEWRAP,
    user: policy.terminalUser,
    isRoot: process.getuid?.() === 0,
    programs: { bwrap: find("bwrap"), runuser: find("runuser"), sudo: find("sudo") },
    hidden: hidden.filter((folder) => folder !== undefined && folder !== "/" && existsSync(folder)) as string[],
  };
}

/** The environment of commands: the worker's own, without what is meant for the worker. */
export function commandEnvironment(own: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(own).filter(([name]) => !name.startsWith("TALARIA_")));
}

function findProgram(name: string, path: string): string | undefined {
  for (const folder of [...path.split(delimiter), "/usr/sbin", "/usr/bin", "/sbin", "/bin"]) {
    if (!folder.startsWith("/")) continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      continue;
    }
  }
  return undefined;
}
