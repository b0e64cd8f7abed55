import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { AnswerPromptRequest } from "../../gen/talaria/gateway/v1/turn_service.js";
import {
  ApprovalChoice,
  Prompt,
  promptEndToJSON,
  type Prompt as PromptMessage,
} from "../../gen/talaria/types/v1/prompt.js";
import { pages } from "../../rpc/clients/pages.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { askPrompt } from "../render/askPrompt.js";
import { localTime, shortName } from "../render/names.js";
import { choiceName, questionOf } from "../render/promptText.js";
import { table } from "../render/table.js";

/** Characters of a question that a line of the list has room for. */
const QUESTION_LIMIT = 60;

/** Lists the open prompts, oldest first. */
export async function promptsList(context: CommandContext, { session = "" }: { readonly session?: string }) {
  const found = await openPrompts(context, session);
  context.print(
    found.map((prompt) => Prompt.toJSON(prompt)),
    (columns) =>
      table(
        ["PROMPT", "SESSION", "EXPIRES", "ASKS", "ANSWERS"],
        found.map((prompt) => [
          prompt.promptId,
          prompt.sessionId,
          localTime(prompt.expiresAt),
          questionOf(prompt, QUESTION_LIMIT),
          answersOf(prompt).join(", "),
        ]),
        columns,
      ),
  );
}

/** Answers a prompt by its id; without an answer, asks the person at the terminal. @throws CliError for an answer that is none. */
export async function promptsAnswer(context: CommandContext, promptId: string, words: readonly string[]) {
  const gateway = await context.gateway();
  const prompt = (await openPrompts(context, "")).find((one) => one.promptId === promptId);
  const answer = words.length === 0 ? await ask(context, prompt) : answerOf(words.join(" "), prompt);
  const { prompt: after } = await gateway.call(TurnServiceService.answerPrompt, {
    requestId: context.newRequestId(),
    promptId,
    answer,
  });
  context.print(after === undefined ? {} : Prompt.toJSON(after), () =>
    after === undefined ? promptId : `${promptId} ${shortName(promptEndToJSON(after.end), "PROMPT_END_")}`,
  );
}

async function openPrompts(context: CommandContext, sessionId: string): Promise<readonly PromptMessage[]> {
  const gateway = await context.gateway();
  const found: PromptMessage[] = [];
  const read = (pageToken: string) =>
    gateway.call(TurnServiceService.listPrompts, { sessionId, pageSize: 100, pageToken });
  for await (const page of pages(read)) found.push(...page.prompts);
  return found;
}

function answersOf({ request, offered }: PromptMessage): readonly string[] {
  if (request?.$case === "clarify") return request.value.question?.choices ?? [];
  return offered.map(choiceName);
}

const CHOICES = [
  ApprovalChoice.APPROVAL_CHOICE_ONCE,
  ApprovalChoice.APPROVAL_CHOICE_SESSION,
  ApprovalChoice.APPROVAL_CHOICE_ALWAYS,
  ApprovalChoice.APPROVAL_CHOICE_DENY,
];

/** The prompt decides what a text means; of one that is not open the gateway says why it takes no answer. */
function answerOf(text: string, prompt: PromptMessage | undefined): AnswerPromptRequest["answer"] {
  const named = CHOICES.find((one) => choiceName(one) === text.trim().toLowerCase());
  if (prompt === undefined && named !== undefined) return { $case: "choice", value: named };
  if (prompt?.request?.$case !== "approval") return { $case: "text", value: text };
  const choice = prompt.offered.find((one) => one === named);
  if (choice !== undefined) return { $case: "choice", value: choice };
  const offered = answersOf(prompt).join(", ");
  throw new CliError(
    "PROMPT_CHOICE_NOT_OFFERED",
    `${JSON.stringify(text)} is not offered.`,
    `Answer with: ${offered}.`,
  );
}

async function ask(
  { terminal }: CommandContext,
  prompt: PromptMessage | undefined,
): Promise<AnswerPromptRequest["answer"]> {
  if (prompt === undefined) return { $case: "text", value: "" };
  const answer = terminal.canAsk ? await askPrompt(terminal, prompt, new AbortController().signal) : undefined;
  if (answer !== undefined) return answer;
  const words = answersOf(prompt);
  const hint =
    words.length === 0 ? "Give it after the prompt's id." : `Give one after the prompt's id: ${words.join(", ")}.`;
  throw new CliError("INVALID_FIELD", "There is no answer.", hint);
}
