/** The packages behind the `openai` runtime, in a file of their own: a worker reads it only for an agent that has a model. */
export { createOpenAICompatible } from "@ai-sdk/openai-compatible";
export { APICallError, jsonSchema, stepCountIs, streamText, tool } from "ai";
