import { spawn } from "node:child_process";

import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { scrubbedEnvironment } from "../../base/scrubbedEnvironment.js";

/** What a notification is about. Ids only: what was said stays in the home. */
export type Notification =
  | { readonly kind: "unknown_outcome"; readonly inputId: string; readonly sessionId: string; readonly agent: string }
  | { readonly kind: "prompt_waiting"; readonly promptId: string; readonly sessionId: string }
  | { readonly kind: "dead_letter"; readonly deliveryId: string; readonly recipient: string; readonly reason: string }
  | { readonly kind: "agent_paused"; readonly agent: string; readonly until: string };

/** What {@link createNotifier} needs. */
export interface NotifierOptions {
  /** Program and arguments; absent = nobody is notified. */
  readonly command: readonly string[] | undefined;
  /** The gateway's environment, of which the command gets the scrubbed one that workers get. */
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Longest run of the command, milliseconds. */
const LIMIT_MS = 30_000;
/** Most notifications that wait; beyond it the newest are dropped, and that is logged. */
const MAX_WAITING = 1_000;

/** Runs the operator's notification command. */
export interface Notifier {
  /**
   * Queues one run of the command, which reads the notification as one line of JSON. Never throws.
   * @param claim called right before the run; where it says false, or fails, the command is not run.
   */
  notify(notification: Notification, claim?: () => Promise<boolean>): void;
  /** Drops what waits, and resolves when the run that goes on has ended or was killed. */
  close(): Promise<void>;
}

/** Makes a notifier that runs its command for one notification after another. A command that fails or hangs harms nobody. */
export function createNotifier({ command, environment, clock, log }: NotifierOptions): Notifier {
  const waiting: { readonly notification: Notification; readonly claim: () => Promise<boolean> }[] = [];
  let running: Promise<void> | undefined;
  let end = (): void => undefined;
  let closed = false;

  const run = async (program: string, args: readonly string[]): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { notification, claim } = next;
      try {
        if (!(await claim())) continue;
      } catch (error) {
        log.warn(
          { err: error, kind: notification.kind },
          "a notification could not be claimed; the command was not run",
        );
        continue;
      }
      await new Promise<void>((resolve) => {
        const child = spawn(program, args, {
          env: scrubbedEnvironment(environment),
          stdio: ["pipe", "ignore", "ignore"],
        });
        end = () => child.kill("SIGKILL");
        if (closed) end();
        const cancel = clock.after(LIMIT_MS, end);
        const finish = (problem: unknown): void => {
          cancel();
          if (problem !== undefined) log.warn({ problem, kind: notification.kind }, "the notification command failed");
          resolve();
        };
        child.once("error", finish);
        child.once("exit", (code, signal) => {
          finish(code === 0 ? undefined : { code, signal });
        });
        // A command that does not read its input breaks the pipe; its exit code says whether that mattered.
        child.stdin.on("error", () => undefined);
        child.stdin.end(`${JSON.stringify(notification)}\n`);
      });
    }
    running = undefined;
  };

  return {
    notify(notification, claim = () => Promise.resolve(true)) {
      const [program, ...args] = command ?? [];
      if (program === undefined) {
        // Nobody is to be notified, also not by a command that is configured later.
        claim().catch((error: unknown) => {
          log.warn({ err: error, kind: notification.kind }, "a notification could not be claimed");
        });
        return;
      }
      if (waiting.length >= MAX_WAITING) {
        log.error({ kind: notification.kind }, "too many notifications wait; one was dropped");
        return;
      }
      waiting.push({ notification, claim });
      running ??= run(program, args);
    },
    async close() {
      closed = true;
      waiting.length = 0;
      end();
      await running;
    },
  };
}
