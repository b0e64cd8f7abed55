import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";

/** The packages behind the `openai` runtime, in a file of their own: a worker reads it only for an agent that has a model. */
export { createOpenAICompatible } from "@ai-sdk/openai-compatible";

/** A chat model of an endpoint. */
export type ChatModel = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
/** One request to it. */
export type ChatRequest = Parameters<ChatModel["doStream"]>[0];
/** The messages of a request. */
export type ChatPrompt = ChatRequest["prompt"];
/** One of them. */
export type ChatMessage = ChatPrompt[number];
/** A tool as the model is offered it. */
export type ChatTool = NonNullable<ChatRequest["tools"]>[number];
/** One part of an answer's stream. */
export type ChatPart =
  Awaited<ReturnType<ChatModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
