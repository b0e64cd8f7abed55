import type { Check } from "../check.js";
import type { OwnerFrame } from "../framePhases.js";
import type { Trial } from "../trial.js";

const idle: readonly [name: string, frame: OwnerFrame | undefined][] = [
  ["finish before result", { $case: "finish", value: {} }],
  ["an answer before the assignment", { $case: "clarifyAnswer", value: { promptId: "x", text: "", end: 1 } }],
  ["an empty frame", undefined],
  ["an ack of what was not sent", { $case: "ack", value: { sequence: 99n } }],
];

async function refusedIt(trial: Trial): Promise<string> {
  const { message } = await trial.attachment.next("error");
  trial.attachment.end();
  await trial.failed();
  return message;
}

/** Frames of an owner that break the contract. */
export const frameChecks: readonly Check[] = [
  ...idle.map(([name, frame]) => ({
    name: `bad frame: ${name}`,
    rule: "A frame that breaks the contract is answered with an error frame, and the process ends, not with 0.",
    run: async (trial: Trial) => {
      (await trial.attached()).send(frame);
      return refusedIt(trial);
    },
  })),
  {
    name: "bad frame: a second assignment",
    rule: "A second assignment is out of phase, also in the middle of a turn.",
    run: async (trial) => {
      await trial.running("!sleep 3600000");
      trial.bootstrap("another");
      return refusedIt(trial);
    },
  },
  {
    name: "draining",
    rule: "A gateway that is going down lets a turn end.",
    run: async (trial) => {
      const attachment = await trial.attached();
      attachment.send({ $case: "draining", value: { stopAt: undefined } });
      await trial.turn("still there");
      return "the turn ended in order";
    },
  },
  {
    name: "closed in a turn",
    rule: "A worker whose stream is closed in the middle of its turn ends, not with 0.",
    run: async (trial) => {
      const attachment = await trial.running("!sleep 3600000");
      attachment.send({ $case: "close", value: { reason: 5, detail: 0, message: "enough" } });
      attachment.end();
      return trial.failed();
    },
  },
];
