// The model's own chat format, made from OpenAI-style messages and tools.
import { CALL_CLOSES, CALL_OPENS } from "./toolGrammar.mjs";

/**
 * @typedef {{ name: string, description?: string, parameters?: any }} Tool
 * @typedef {{ role: string, content?: any, tool_calls?: any[], tool_call_id?: string }} Message
 * @param {(text: string, special: boolean) => number[]} tokenize special: whether marks such as `<|im_start|>` count as marks
 * @param {readonly Message[]} messages
 * @param {readonly Tool[]} tools
 * @returns {number[]} tokens up to where the assistant speaks. No content can forge a mark.
 */
export function chatTokens(tokenize, messages, tools) {
  const mark = (/** @type {string} */ text) => tokenize(text, true);
  const plain = (/** @type {string} */ text) => (text === "" ? [] : tokenize(text, false));
  const system = [
    ...messages.filter(({ role }) => role === "system").map(({ content }) => textOf(content)),
    ...(tools.length === 0 ? [] : [toolSection(tools)]),
  ].join("\n\n");
  const turns = messages.filter(({ role }) => role !== "system").map(turnOf);
  const all = [
    { role: "system", text: system === "" ? "You are a helpful assistant." : system },
    ...(tools.length === 0 ? [] : EXAMPLE.map(turnOf)),
    ...turns,
  ];
  return [
    ...all.flatMap(({ role, text }) => [
      ...mark("<|im_start|>"),
      ...plain(`${role}\n${text}`),
      ...mark("<|im_end|>"),
      ...plain("\n"),
    ]),
    ...mark("<|im_start|>"),
    ...plain("assistant\n"),
  ];
}

/** A model of this size does not know what a call is until it has seen one. The tool of the example is never on offer. */
const EXAMPLE = [
  { role: "user", content: "Set a timer of 5 minutes. Use `timer`." },
  { role: "assistant", tool_calls: [{ function: { name: "timer", arguments: '{"minutes": 5}' } }] },
  { role: "tool", content: "started" },
  { role: "assistant", content: "The timer runs for 5 minutes." },
];

/** @param {Message} message */
function turnOf({ role, content, tool_calls: calls = [] }) {
  const text = textOf(content);
  if (role === "tool") return { role: "user", text: `<tool_response>\n${text}\n</tool_response>` };
  const asked = calls.map(({ function: { name, arguments: args } }) => callText(name, args));
  return { role, text: [...(text === "" ? [] : [text]), ...asked].join("\n") };
}

/** @param {string} name @param {string} args JSON */
function callText(name, args) {
  return `${CALL_OPENS}{"name": ${JSON.stringify(name)}, "arguments": ${args}}${CALL_CLOSES}`;
}

/** @param {readonly Tool[]} tools */
function toolSection(tools) {
  return [
    "# Tools",
    "You can use these tools:",
    ...tools.map((tool) => JSON.stringify({ ...tool, parameters: bare(tool.parameters) })),
    "To use one, answer with one call and nothing else:",
    callText("the tool's name", '{"argument": "value"}'),
    "Its result comes in tool_response. Then answer in words.",
  ].join("\n");
}

/** @param {any} parameters @returns {any} without what only a validator reads */
function bare(parameters) {
  const { $schema: _, additionalProperties: __, ...rest } = parameters ?? {};
  return rest;
}

/** @param {any} content a text, parts, or nothing @returns {string} the texts; images are nothing to this model */
function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
