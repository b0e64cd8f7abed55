import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";
import { TRIAL_BUDGETS, type Trial } from "../trial.js";

/** Time beyond the grace in which everything must be gone, milliseconds: looking at processes takes its time, too. */
const SLACK_MS = 3_000;

async function gone(trial: Trial): Promise<string> {
  const { clock } = trial.settings;
  const began = clock.monotonic();
  const ms = TRIAL_BUDGETS.orphanGrace + SLACK_MS;
  const how = await trial.failed(ms);
  await trial.groupGone(ms);
  return `${how} after ${(clock.monotonic() - began).toFixed(0)} ms`;
}

async function ownerDies(trial: Trial): Promise<void> {
  trial.worker.dropPipe();
  await trial.owner.close();
}

/** What is left of a worker whose owner is gone, and what it keeps. */
export const lossChecks: readonly Check[] = [
  {
    name: "owner dies before the assignment",
    rule: "A worker without an assignment ends when its owner is gone.",
    run: async (trial) => {
      await trial.attached();
      await ownerDies(trial);
      return gone(trial);
    },
  },
  {
    name: "owner dies in a turn",
    rule: "A worker whose owner is gone ends within orphan_grace, with its whole group.",
    run: async (trial) => {
      await trial.running("!sleep 3600000");
      await ownerDies(trial);
      return gone(trial);
    },
  },
  {
    name: "launch pipe ends",
    rule: "The end of the launch pipe alone says that the owner is gone.",
    run: async (trial) => {
      await trial.running("!sleep 3600000");
      trial.worker.dropPipe();
      return gone(trial);
    },
  },
  {
    name: "stream lost",
    rule: "The loss of the Attach stream alone says that the owner is gone.",
    run: async (trial) => {
      const attachment = await trial.running("!sleep 3600000");
      attachment.end(new RpcError("UNAVAILABLE"));
      return gone(trial);
    },
  },
  {
    name: "children",
    rule: "Children that ignore SIGTERM die with a worker whose owner is gone.",
    needs: "children",
    run: async (trial) => {
      const attachment = await trial.attached();
      trial.bootstrap("!leave-child\n!sleep 3600000");
      await attachment.next("ready");
      const left = (): true | undefined => (attachment.text.startsWith("child: ") ? true : undefined);
      await trial.board.until("child", left, () => attachment.state);
      await ownerDies(trial);
      return gone(trial);
    },
  },
  {
    name: "busy loop",
    rule: "A worker whose loop spins dies all the same when its owner is gone.",
    needs: "spin",
    run: async (trial) => {
      await trial.running("!spin 3600000");
      await trial.spinning();
      await ownerDies(trial);
      return gone(trial);
    },
  },
  {
    name: "outbox",
    rule: "The receipt is kept in the granted folder, authenticated, until finish has come.",
    needs: "outbox",
    run: async (trial) => {
      const directory = join(trial.directory, "outbox");
      mkdirSync(directory, { mode: 0o700 });
      const key = trial.settings.random.bytes(32);
      await trial.running("kept", { outbox: { directory, key } });
      const { executionId } = trial.assignment;
      await trial.result();
      const path = join(directory, "result");
      need(existsSync(path), "no file result is in the folder");
      const bytes = readFileSync(path);
      const body = bytes.subarray(32);
      const code = createHmac("sha256", key).update(executionId).update(Buffer.of(0)).update(body).digest();
      need(bytes.subarray(0, 32).equals(code), "the file is not authenticated with the granted key");
      need(TurnResult.decode(body).finalResponse === "kept", "the file holds another receipt");
      await trial.finish();
      need(!existsSync(path), "the file is still there after finish");
      return `${String(bytes.length)} bytes`;
    },
  },
];
