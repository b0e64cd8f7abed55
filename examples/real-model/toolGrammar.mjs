// GBNF from the JSON schemas of tools: what the model may write where it calls one.

/** Most characters of a text argument: a small model that has lost its way would fill the context. */
const TEXT_CHARACTERS = 200;
/** Most items of a list. */
const ITEMS = 8;

/** What opens a call; no text may begin with its first character. */
export const CALL_OPENS = "<tool_call>";
/** What closes a call. */
export const CALL_CLOSES = "</tool_call>";

const PRIMITIVES = `
string ::= "\\"" character{0,${TEXT_CHARACTERS}} "\\""
filled ::= "\\"" character{1,${TEXT_CHARACTERS}} "\\""
character ::= [^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})
integer ::= "-"? ("0" | [1-9] [0-9]{0,9})
number ::= integer ("." [0-9]{1,9})?
boolean ::= "true" | "false"
`;

/**
 * @typedef {{ name: string, parameters?: any }} GrammarTool
 * @param {readonly GrammarTool[]} tools that may be called; at least one
 * @param {boolean} mayTalk whether a text may stand in the place of a call
 * @returns {string} a grammar whose root is one call, or a text that does not begin like one
 */
export function toolGrammar(tools, mayTalk) {
  /** @type {string[]} */
  const rules = [];
  const calls = tools.map(({ name, parameters }, index) => {
    const args = ruleOf(parameters ?? { type: "object" }, `args${index}`, rules);
    rules.push(`call${index} ::= ${literal(`{"name": ${JSON.stringify(name)}, "arguments": `)} ${args} "}"`);
    return `call${index}`;
  });
  const call = `call ::= ${literal(CALL_OPENS)} (${calls.join(" | ")}) ${literal(CALL_CLOSES)}`;
  const root = mayTalk ? "root ::= call | text\ntext ::= [^<] [^\\x00]*" : "root ::= call";
  return [root, call, ...rules].join("\n") + PRIMITIVES;
}

/**
 * The subset of JSON Schema that the tools use; anything else is refused rather than let through.
 * @param {any} schema @param {string} name for a rule that has to be made @param {string[]} rules takes it
 * @returns {string} an expression
 */
function ruleOf(schema, name, rules) {
  if (Array.isArray(schema.enum)) return `(${schema.enum.map((/** @type {unknown} */ one) => json(one)).join(" | ")})`;
  if (schema.const !== undefined) return json(schema.const);
  switch (schema.type) {
    case "string":
      return schema.minLength > 0 ? "filled" : "string";
    case "integer":
    case "number":
    case "boolean":
      return schema.type;
    case "array": {
      const item = ruleOf(schema.items, `${name}-item`, rules);
      rules.push(`${name} ::= "[" (${item} (", " ${item}){0,${ITEMS - 1}})? "]"`);
      return name;
    }
    case "object":
      rules.push(`${name} ::= ${objectRule(schema, name, rules)}`);
      return name;
    default:
      throw new Error(`a tool's schema has what this grammar does not know: ${JSON.stringify(schema)}`);
  }
}

/** Required properties in their order, then any of the others in theirs. */
function objectRule(/** @type {any} */ schema, /** @type {string} */ name, /** @type {string[]} */ rules) {
  const properties = Object.entries(schema.properties ?? {});
  const isRequired = (/** @type {string} */ key) => (schema.required ?? []).includes(key);
  const pair = (/** @type {[string, any]} */ [key, value], /** @type {number} */ index) =>
    `${literal(`${JSON.stringify(key)}: `)} ${ruleOf(value, `${name}-${index}`, rules)}`;
  const required = properties.filter(([key]) => isRequired(key)).map((entry, index) => pair(entry, index));
  const optional = properties
    .filter(([key]) => !isRequired(key))
    .map((entry, index) => pair(entry, required.length + index));
  if (required.length > 0) {
    return [`"{" ${required.join(' ", " ')}`, ...optional.map((one) => `(", " ${one})?`), '"}"'].join(" ");
  }
  return `"{" (${optional.map((one, index) => [one, ...optional.slice(index + 1).map((next) => `(", " ${next})?`)].join(" ")).join(" | ")})? "}"`;
}

function json(/** @type {unknown} */ value) {
  return literal(JSON.stringify(value));
}

function literal(/** @type {string} */ text) {
  return JSON.stringify(text);
}
