import { createDeferred } from "../../base/deferred.js";
import { RpcError } from "../../rpc/rpcError.js";
import { toDuration } from "../../rpc/wire/times.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";

/** How long a check watches that something does not happen, milliseconds. */
const WATCH_MS = 400;
const HEARTBEAT_MS = 200;
const BEATS = 5;
const SMALL_BOUND = 131_072;

/** A turn from its assignment to its end: phases, heartbeats, credit. */
export const turnChecks: readonly Check[] = [
  {
    name: "turn",
    rule: "Adopt, ready, events, result; then finish, FinishExecution, finished, exit 0. What is streamed is the answer.",
    run: async (trial) => {
      const text = "The quick brown fox, über alles: 🦊";
      const { finalResponse, completed } = await trial.turn(text);
      const { attachment, assignment, owner } = trial;
      need(completed, "completed is not set");
      need(finalResponse === text, `the answer is ${JSON.stringify(finalResponse.slice(0, 80))}`);
      need(attachment.text === text, `streamed was ${JSON.stringify(attachment.text.slice(0, 80))}`);
      const adopt = owner.adopts[0]?.request;
      const { executionId, epoch, generation } = assignment;
      const fence = adopt?.fence;
      need(
        fence?.executionId === executionId && fence.epoch === epoch && fence.generation === generation,
        "the fence is another",
      );
      need(adopt?.assignmentSecret.equals(assignment.assignmentSecret) === true, "the secret of Adopt is another");
      const hello = attachment.frames[0]?.frame;
      need(hello?.$case === "hello" && adopt.pid === hello.value.process?.pid, "the pid of Adopt is not hello's");
      const ready = attachment.frames.find(({ frame }) => frame?.$case === "ready")?.frame;
      need(ready?.$case === "ready" && ready.value.pid === adopt.pid, "the pid of ready is not hello's");
      return attachment.kinds.join(", ");
    },
  },
  {
    name: "adopt before ready",
    rule: "Nothing but heartbeats is sent until Adopt has answered.",
    run: async (trial) => {
      const held = createDeferred<void>();
      trial.owner.before.adopt = () => held.promise;
      const attachment = await trial.attached();
      trial.bootstrap("hello");
      await trial.board.until(
        "Adopt",
        () => trial.owner.adopts[0],
        () => trial.state,
      );
      const early = (): string | undefined =>
        attachment.kinds.some((kind) => kind !== "hello" && kind !== "heartbeat") ? attachment.state : undefined;
      await trial.board.never(early, WATCH_MS);
      held.resolve();
      await trial.result();
      await trial.finish();
      return "nothing came early";
    },
  },
  {
    name: "lost answer to Adopt",
    rule: "An Adopt whose answer was lost is repeated as it is.",
    run: async (trial) => {
      trial.owner.before.adopt = () => {
        trial.owner.before = {};
        throw new RpcError("UNAVAILABLE");
      };
      await trial.turn("again");
      const [first, second] = trial.owner.adopts;
      need(
        second !== undefined && first?.request.assignmentSecret.equals(second.request.assignmentSecret) === true,
        "it was not repeated",
      );
      return `${String(trial.owner.adopts.length)} calls`;
    },
  },
  {
    name: "result waits for finish",
    rule: "After result nothing but heartbeats is sent, and the execution is not ended, until finish has come.",
    run: async (trial) => {
      const attachment = await trial.running("patience");
      await trial.result();
      const early = (): string | undefined => {
        if (trial.worker.exit !== undefined) return "the process has ended";
        if (trial.owner.finishes.length > 0) return "FinishExecution was called";
        return attachment.kinds.at(-1) === "finished" ? "finished was sent" : undefined;
      };
      await trial.board.never(early, WATCH_MS);
      await trial.finish();
      return "it waited";
    },
  },
  {
    name: "no finish",
    rule: "A worker that gets no finish within finish_wait says so with an error frame and ends, not with 0.",
    run: async (trial) => {
      const attachment = await trial.running("alone", { budgets: { finishWait: toDuration(500) } });
      await trial.result();
      const { message } = await attachment.next("error");
      attachment.end();
      await trial.failed();
      need(trial.owner.finishes.length === 0, "FinishExecution was called");
      return message;
    },
  },
  {
    name: "heartbeats",
    rule: "Heartbeats come at the assignment's interval while the turn runs, and while it waits.",
    run: async (trial) => {
      const { clock } = trial.settings;
      const attachment = await trial.running("!sleep 3600000", { budgets: { heartbeat: toDuration(HEARTBEAT_MS) } });
      await attachment.next("heartbeat");
      const began = clock.monotonic();
      for (let beat = 0; beat < BEATS; beat++) await attachment.next("heartbeat", 20 * HEARTBEAT_MS);
      const mean = (clock.monotonic() - began) / BEATS;
      need(mean >= HEARTBEAT_MS / 3, `they come every ${mean.toFixed(0)} ms, asked were ${String(HEARTBEAT_MS)}`);
      return `every ${mean.toFixed(0)} ms of ${String(HEARTBEAT_MS)}`;
    },
  },
  {
    name: "credit",
    rule: "Unacknowledged bytes stay within outstanding_bytes, heartbeats go on meanwhile, and acks let the turn go on.",
    run: async (trial) => {
      const attachment = await trial.attached();
      attachment.acknowledges = false;
      const budgets = { heartbeat: toDuration(HEARTBEAT_MS), outstandingBytes: BigInt(SMALL_BOUND) };
      trial.bootstrap("!flood 2000 1 1024", { budgets });
      await attachment.next("ready");
      await trial.standing();
      const { outstanding } = attachment;
      need(
        outstanding <= SMALL_BOUND,
        `${String(outstanding)} bytes are unacknowledged, allowed are ${String(SMALL_BOUND)}`,
      );
      attachment.acknowledges = true;
      attachment.acknowledge();
      await trial.result();
      const flooded = attachment.deltas.reduce((sum, { text, channel }) => sum + (channel === 2 ? text.length : 0), 0);
      need(flooded === 2_000 * 1_024, `${String(flooded)} bytes of the flood arrived`);
      await trial.finish();
      return `held at ${String(outstanding)} bytes`;
    },
  },
];
