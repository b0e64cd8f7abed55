import { join } from "node:path";

import { TOOL_FOLDER } from "./workspacePath.js";

/** What is known of the machine and the agent where a command is to run. */
export interface CommandSite {
  /** Absolute path of the shell. */
  readonly shell: string;
  readonly workspace: string;
  /** True puts bubblewrap around it. */
  readonly sandbox: boolean;
  /** Whom it runs as; empty for the worker's own user. */
  readonly user: string;
  /** Whether the worker is root. */
  readonly isRoot: boolean;
  /** Absolute paths of programs; undefined for one that is not there. */
  readonly programs: {
    readonly bwrap: string | undefined;
    readonly runuser: string | undefined;
    readonly sudo: string | undefined;
  };
  /** Folders that a sandboxed command does not see; all of them exist. */
  readonly hidden: readonly string[];
}

/** How a command is started, or why it cannot be as the policy wants it. */
export type CommandPlan =
  | { readonly kind: "run"; readonly argv: readonly [string, ...string[]] }
  | { readonly kind: "refused"; readonly why: string };

/**
 * The program and arguments that run a command with what the policy puts around it. Nothing is left out that cannot be had: the
 * command is refused instead. Pure.
 * @param outlives whether it may go on when the worker has ended
 */
export function commandPlan(command: string, site: CommandSite, outlives: boolean): CommandPlan {
  const inner = [site.shell, "-c", `exec 2>&1\n${command}`] as const;
  const { bwrap } = site.programs;
  if (site.sandbox && bwrap === undefined) {
    return refused("The agent's commands are to run inside bubblewrap, and bwrap is not installed on this machine.");
  }
  const boxed = site.sandbox && bwrap !== undefined ? [bwrap, ...sandboxArguments(site, outlives), ...inner] : inner;
  if (site.user === "") return run(boxed);
  const { runuser, sudo } = site.programs;
  if (site.isRoot && runuser !== undefined) return run([runuser, "-u", site.user, "--", ...boxed]);
  if (sudo !== undefined) return run([sudo, "-n", "-u", site.user, "--", ...boxed]);
  const wanting = site.isRoot ? "runuser is not installed on this machine" : "that takes root or sudo";
  return refused(`The agent's commands are to run as ${site.user}, and ${wanting}.`);
}

function sandboxArguments({ workspace, hidden }: CommandSite, outlives: boolean): readonly string[] {
  return [
    ...(outlives ? [] : ["--die-with-parent"]),
    ...["--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...hidden.flatMap((folder) => ["--tmpfs", folder]),
    // Behind them: the workspace may lie in one of them.
    ...["--bind", workspace, workspace],
    // What the worker keeps there is read and written outside the sandbox: a link put into it would lead out.
    ...["--tmpfs", join(workspace, TOOL_FOLDER), "--chdir", workspace, "--"],
  ];
}

function run([program = "", ...rest]: readonly string[]): CommandPlan {
  return { kind: "run", argv: [program, ...rest] };
}

function refused(why: string): CommandPlan {
  return { kind: "refused", why };
}
