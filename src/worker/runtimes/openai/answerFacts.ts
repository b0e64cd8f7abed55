import type { RuntimeAnswer, RuntimeFailure } from "../runtime.js";
import type { ModelCaller } from "./modelCaller.js";
import type { ModelEndpoint } from "./modelEndpoint.js";
import type { Answer } from "./streamAnswer.js";

/** What a receipt says of the models: which was asked for, which answered, and the account where one ran dry. Pure. */
export function answerFacts(
  {
    caller,
    endpoints,
  }: { readonly caller: Pick<ModelCaller, "endpoint">; readonly endpoints: readonly ModelEndpoint[] },
  answer: Answer | undefined,
  failure: RuntimeFailure | undefined,
): Partial<RuntimeAnswer> {
  const { ref, host } = caller.endpoint;
  const provider = ref.provider === "" ? host : ref.provider;
  return {
    model: ref.model,
    provider,
    requestedModel: endpoints[0]?.ref.model ?? ref.model,
    ...(answer?.servedModel === undefined ? {} : { servedModel: answer.servedModel }),
    ...(failure?.reason === "PROVIDER_QUOTA"
      ? {
          billing: {
            provider,
            providerLabel: provider,
            model: ref.model,
            billingUrl: "",
            isOwnAccount: false,
            message: failure.message,
            unverified: true,
          },
        }
      : {}),
  };
}
