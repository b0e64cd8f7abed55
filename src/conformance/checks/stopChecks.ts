import { createDeferred } from "../../base/deferred.js";
import { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import { toDuration } from "../../rpc/wire/times.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";
import type { Trial } from "../trial.js";

const CAUSE = StopCause.STOP_CAUSE_CLIENT;

function stop(trial: Trial): void {
  trial.attachment.send({ $case: "stop", value: { cause: CAUSE } });
}

async function interrupted(trial: Trial): Promise<string> {
  const began = trial.settings.clock.monotonic();
  const result = await trial.result();
  need(result.interrupted && !result.completed, "the receipt does not say that the turn was interrupted");
  const ms = trial.settings.clock.monotonic() - began;
  await trial.finish();
  return `a receipt after ${ms.toFixed(0)} ms`;
}

/** What Stop does in each phase. */
export const stopChecks: readonly Check[] = [
  {
    name: "stop before ready",
    rule: "A turn that is stopped before it is ready comes to a receipt that says interrupted.",
    run: async (trial) => {
      const held = createDeferred<void>();
      trial.owner.before.adopt = () => held.promise;
      await trial.attached();
      trial.bootstrap("!sleep 3600000");
      await trial.board.until(
        "Adopt",
        () => trial.owner.adopts[0],
        () => trial.state,
      );
      stop(trial);
      held.resolve();
      return interrupted(trial);
    },
  },
  {
    name: "stop",
    rule: "Stop in the middle of a turn ends it with a receipt that says interrupted; a second Stop changes nothing.",
    run: async (trial) => {
      await trial.running("!sleep 3600000");
      stop(trial);
      stop(trial);
      return interrupted(trial);
    },
  },
  {
    name: "stop without credit",
    rule: "A turn that waits for acks when it is stopped comes to its receipt once they come.",
    run: async (trial) => {
      const attachment = await trial.attached();
      attachment.acknowledges = false;
      const budgets = { heartbeat: toDuration(200), outstandingBytes: 131_072n };
      trial.bootstrap("!flood 1000000 1 1024", { budgets });
      await attachment.next("ready");
      await trial.standing();
      stop(trial);
      attachment.acknowledges = true;
      attachment.acknowledge();
      return interrupted(trial);
    },
  },
  {
    name: "stop after result",
    rule: "Stop after the receipt changes nothing.",
    run: async (trial) => {
      await trial.running("done");
      const result = await trial.result();
      need(result.completed, "the receipt does not say completed");
      stop(trial);
      await trial.finish();
      return "finished all the same";
    },
  },
];
