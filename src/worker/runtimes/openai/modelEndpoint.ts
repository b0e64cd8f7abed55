import type { Clock } from "../../../base/clock.js";
import type { ModelRef } from "../../../gen/talaria/types/v1/policy.js";
import { RpcError } from "../../../rpc/rpcError.js";
import type { ChatModel } from "../../packages/modelPackages.js";
import { guardedFetch } from "./guardedFetch.js";

/** A model that can be asked. */
export interface ModelEndpoint {
  /** As configured. */
  readonly ref: ModelRef;
  /** Host and port, for messages. */
  readonly host: string;
  /** Its key, to be hidden from what the turn keeps; empty for none. */
  readonly key: string;
  readonly model: ChatModel;
}

/** Endpoints of providers that are known by name. */
const KNOWN: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  openrouter: "https://openrouter.ai/api/v1",
};

/** What a header's value may hold. Source: RFC 9110, section 5.5. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Makes the way to a model; sends nothing.
 * @param credential reads a secret by the name that the policy gives it
 * @throws RpcError RUNTIME_CONFIG where the policy does not say enough or a key is missing.
 */
export async function openModelEndpoint(
  ref: ModelRef,
  credential: (name: string) => string | undefined,
  clock: Clock,
): Promise<ModelEndpoint> {
  if (ref.model === "") throw misconfigured("The agent has no model.");
  const baseUrl = ref.baseUrl === "" ? (KNOWN[ref.provider] ?? "") : ref.baseUrl;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw misconfigured(`The model ${ref.model} has no base URL of an HTTP endpoint.`);
  }
  const key = ref.credential === "" ? "" : credential(ref.credential);
  if (key === undefined) throw misconfigured(`The key of the model ${ref.model} is missing.`);
  const { username, password } = new URL(baseUrl);
  if (username !== "" || password !== "") {
    throw misconfigured(`The base URL of the model ${ref.model} holds a user or a password; use api_key_file.`);
  }
  if (!HEADER_TEXT.test(key)) {
    throw misconfigured(
      `The key of the model ${ref.model} holds characters that no HTTP header may, such as a line break.`,
    );
  }
  const { createOpenAICompatible } = await import("../../packages/modelPackages.js");
  const provider = createOpenAICompatible({
    name: "endpoint",
    baseURL: baseUrl,
    includeUsage: true,
    fetch: guardedFetch(clock),
    ...(key === "" ? {} : { apiKey: key }),
  });
  return { ref, host: new URL(baseUrl).host, key, model: provider.chatModel(ref.model) };
}

function misconfigured(message: string): RpcError {
  return new RpcError("RUNTIME_CONFIG", { message });
}
