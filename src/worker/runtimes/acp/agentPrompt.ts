import type { ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";
import { inputText } from "../conversation/inputText.js";
import { renderRows } from "../conversation/renderRows.js";

/** What a prompt is made from. */
export interface AgentPromptParts {
  /** Sections of the standing instructions; empty ones are left out. */
  readonly instructions: readonly string[];
  /** Rows of the session before this turn. */
  readonly rows: readonly ConversationMessage[];
  /** Line that names the author; empty for a client's input. */
  readonly attribution: string;
  readonly text: string;
}

/** Most of the conversation that is told again, UTF-16 units. */
const CONVERSATION_UNITS = 200_000;

/**
 * The prompt of a turn. An agent keeps nothing between turns, because its process does not: the conversation so far goes in with
 * the input. Pure.
 */
export function agentPrompt({ instructions, rows, attribution, text }: AgentPromptParts): string {
  const standing = instructions.filter((section) => section !== "").join("\n\n");
  const input = inputText({ attribution, text });
  const sections = [
    ...(standing === "" ? [] : [`# Instructions\n\n${standing}`]),
    ...(rows.length === 0 ? [] : [`# The conversation so far\n\n${renderRows(rows, CONVERSATION_UNITS)}`]),
  ];
  return sections.length === 0 ? input : [...sections, `# What to answer\n\n${input}`].join("\n\n");
}
