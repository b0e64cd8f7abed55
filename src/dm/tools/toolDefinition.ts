import { z } from "zod";

/** A tool as a turn's agent is offered it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of its arguments, as text that is the same in every turn. */
  readonly parametersJsonSchema: string;
}

/** Makes a tool's definition. @param sentences its description, which a model reads */
export function defineTool(name: string, sentences: readonly string[], parameters: z.ZodType): OfferedTool {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters);
  return Object.freeze({ name, description: sentences.join(" "), parametersJsonSchema: JSON.stringify(schema) });
}
