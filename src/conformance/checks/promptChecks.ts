import { ApprovalChoice, PromptEnd } from "../../gen/talaria/types/v1/prompt.js";
import { reasonNumber } from "../../rpc/reasonNumber.js";
import { toDuration } from "../../rpc/wire/times.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";
import type { BootstrapChanges, Trial } from "../trial.js";

const COMMAND = "rm -rf build";

/** Brings a turn to its approval. @returns the prompt's id. */
async function asked(trial: Trial, changes: BootstrapChanges = {}): Promise<string> {
  const attachment = await trial.running(`!approve ${COMMAND}`, changes);
  const { promptId, request } = await attachment.next("approval");
  need(promptId !== "" && promptId.length <= 64, "the prompt's id has not 1 to 64 characters");
  need(request?.command === COMMAND, "the prompt is about another command");
  return promptId;
}

async function answered(trial: Trial, starts: string): Promise<string> {
  const { finalResponse } = await trial.result();
  await trial.finish();
  need(
    finalResponse.startsWith(starts),
    `the answer is ${JSON.stringify(finalResponse.slice(0, 80))}, expected ${starts}`,
  );
  return finalResponse;
}

const answers: readonly [name: string, choice: ApprovalChoice, end: PromptEnd, starts: string][] = [
  ["approved", ApprovalChoice.APPROVAL_CHOICE_ONCE, PromptEnd.PROMPT_END_ANSWERED, "approved"],
  ["denied", ApprovalChoice.APPROVAL_CHOICE_DENY, PromptEnd.PROMPT_END_ANSWERED, "denied"],
  ["expired at the owner", ApprovalChoice.APPROVAL_CHOICE_UNSPECIFIED, PromptEnd.PROMPT_END_EXPIRED, "denied"],
  ["nobody there", ApprovalChoice.APPROVAL_CHOICE_UNSPECIFIED, PromptEnd.PROMPT_END_HEADLESS, "denied"],
];

/** Approvals and questions. */
export const promptChecks: readonly Check[] = [
  ...answers.map(([name, choice, end, starts]) => ({
    name: `approval ${name}`,
    rule: `An approval ends as the owner says; only a person's yes is one (${name}).`,
    needs: "prompts" as const,
    run: async (trial: Trial) => {
      const promptId = await asked(trial);
      // An answer to a prompt that is not open changes nothing.
      trial.attachment.send({ $case: "approvalAnswer", value: { promptId: "nobody's", choice: 1, end: 1 } });
      trial.attachment.send({ $case: "approvalAnswer", value: { promptId, choice, end } });
      return answered(trial, starts);
    },
  })),
  {
    name: "approval refused",
    rule: "A prompt that the owner does not take counts as denied, and the turn goes on.",
    needs: "prompts",
    run: async (trial) => {
      const promptId = await asked(trial);
      trial.attachment.send({ $case: "promptRefused", value: { promptId, reason: reasonNumber("PROMPT_LIMIT") } });
      return answered(trial, "denied");
    },
  },
  {
    name: "approval expired",
    rule: "An approval that nobody answers in its time is denied, and the owner is told that it expired.",
    needs: "prompts",
    run: async (trial) => {
      const promptId = await asked(trial, { budgets: { approval: toDuration(300) } });
      const settled = await trial.attachment.next("promptSettled");
      need(settled.promptId === promptId, "another prompt was settled");
      need(settled.end === PromptEnd.PROMPT_END_EXPIRED, "its end is not EXPIRED");
      return answered(trial, "denied");
    },
  },
  {
    name: "approval stopped",
    rule: "Stop denies an open prompt, tells the owner that it was stopped, and ends the turn.",
    needs: "prompts",
    run: async (trial) => {
      const promptId = await asked(trial);
      trial.attachment.send({ $case: "stop", value: { cause: 1 } });
      const settled = await trial.attachment.next("promptSettled");
      need(settled.promptId === promptId, "another prompt was settled");
      need(settled.end === PromptEnd.PROMPT_END_STOPPED, "its end is not STOPPED");
      need((await trial.result()).interrupted, "the receipt does not say that the turn was interrupted");
      await trial.finish();
      return "settled, then interrupted";
    },
  },
  ...(["headless", "granted"] as const).map((name) => ({
    name: `approval ${name}`,
    rule:
      name === "headless"
        ? "In a headless turn nothing is asked and approval is denied."
        : "A granted command is not asked about.",
    needs: "prompts" as const,
    run: async (trial: Trial) => {
      const headless = name === "headless";
      await trial.running(`!approve ${COMMAND}`, headless ? { headless } : { grantedCommands: [COMMAND] });
      const said = await answered(trial, headless ? "denied" : "approved");
      need(!trial.attachment.kinds.includes("approval"), "a prompt was raised");
      return said;
    },
  })),
  {
    name: "question",
    rule: "A question carries its choices, and its answer reaches the turn.",
    needs: "prompts",
    run: async (trial) => {
      const attachment = await trial.running("!ask Which? | red | blue");
      const { promptId, request } = await attachment.next("clarify");
      const question = request?.question;
      need(question?.text === "Which?" && question.choices.join() === "red,blue", "the question is another");
      need(request?.position === 1 && request.total === 1, "its place in the batch is another");
      attachment.send({ $case: "clarifyAnswer", value: { promptId, text: "blue", end: 1 } });
      const { finalResponse } = await trial.result();
      await trial.finish();
      need(finalResponse.includes("blue"), "the answer did not reach the turn");
      return finalResponse.replaceAll("\n", " ");
    },
  },
  {
    name: "question skipped",
    rule: "A skipped question has no answer, and the turn goes on.",
    needs: "prompts",
    run: async (trial) => {
      const attachment = await trial.running("!ask Which? | red | blue");
      const { promptId } = await attachment.next("clarify");
      attachment.send({ $case: "clarifyAnswer", value: { promptId, text: "", end: 1 } });
      const { finalResponse, completed } = await trial.result();
      await trial.finish();
      need(completed && !/\b(red|blue)\b/.test(finalResponse), "an answer was made up");
      return finalResponse.replaceAll("\n", " ");
    },
  },
];
