import { systemRandom, type Random } from "../../../base/random.js";
import { ReasoningEffort } from "../../../gen/talaria/types/v1/policy.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { createToolSet } from "../../tools/toolSet.js";
import type { TurnContext } from "../../turnContext.js";
import { readImages, type InputImage } from "../conversation/readImages.js";
import type { Runtime, RuntimeAnswer } from "../runtime.js";
import { CallBudget } from "./callBudget.js";
import { ModelCaller, type ModelCallerOptions } from "./modelCaller.js";
import { openModelEndpoint, type ModelEndpoint } from "./modelEndpoint.js";
import { AuxiliaryCalls } from "./recordAuxiliary.js";
import { runTurn } from "./runTurn.js";
import { nameSession, wantsTitle } from "./sessionTitle.js";
import { usageReportOf } from "./usageReportOf.js";

type Endpoints = readonly [ModelEndpoint, ...ModelEndpoint[]];

const EFFORTS: Readonly<Partial<Record<ReasoningEffort, string>>> = {
  [ReasoningEffort.REASONING_EFFORT_NONE]: "none",
  [ReasoningEffort.REASONING_EFFORT_LOW]: "low",
  [ReasoningEffort.REASONING_EFFORT_MEDIUM]: "medium",
  [ReasoningEffort.REASONING_EFFORT_HIGH]: "high",
};

/**
 * A runtime that asks a model at an OpenAI-compatible chat endpoint.
 * @throws RpcError RUNTIME_CONFIG where the policy names no model or a key is missing.
 */
export async function openaiRuntime(context: TurnContext, random: Random = systemRandom): Promise<Runtime> {
  const { policy } = context.assignment;
  if (policy.model === undefined) throw new RpcError("RUNTIME_CONFIG", { message: "The agent has no model." });
  const open = (ref: NonNullable<typeof policy.model>): Promise<ModelEndpoint> =>
    openModelEndpoint(ref, (name) => context.credential(name), context.clock);
  const endpoints: Endpoints = [await open(policy.model), ...(await Promise.all(policy.fallbackModels.map(open)))];
  return {
    model: policy.model.model,
    run: (turn) => run(turn, endpoints, random),
    finalWork: async (turn, answer, signal) => {
      if (!wantsTitle(turn, answer)) return;
      const auxiliary = new AuxiliaryCalls();
      const caller = new ModelCaller({
        ...callerParts(turn, answeredBy(endpoints, answer), random, signal),
        budget: new CallBudget(1),
        onRequest: (usage, endpoint) => {
          auxiliary.add(usage, endpoint);
        },
      });
      await nameSession(turn, answer, caller, auxiliary);
    },
  };
}

async function run(context: TurnContext, endpoints: Endpoints, random: Random): Promise<RuntimeAnswer> {
  const { policy, input } = context.assignment;
  const budget = new CallBudget(policy.limits?.maxModelCalls ?? 0);
  const auxiliary = new AuxiliaryCalls();
  const parts = { ...callerParts(context, endpoints, random, context.signal), budget };
  let images: readonly InputImage[];
  try {
    images = await readImages(input.attachments);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { text: "", failure: { reason: error.reason, message: error.message, retryable: false } };
  }
  const toolSet = await createToolSet(context);
  try {
    return await runTurn({
      context,
      endpoints,
      caller: new ModelCaller({
        ...parts,
        onRequest: (usage) => {
          context.reportUsage(usageReportOf(usage));
        },
      }),
      quietCaller: new ModelCaller({
        ...parts,
        onRequest: (usage, endpoint) => {
          auxiliary.add(usage, endpoint);
        },
      }),
      auxiliary,
      budget,
      tools: toolSet.tools,
      images,
    });
  } finally {
    await toolSet.close();
  }
}

function callerParts(
  context: TurnContext,
  endpoints: Endpoints,
  random: Random,
  signal: AbortSignal,
): Omit<ModelCallerOptions, "budget" | "onRequest"> {
  const effort = EFFORTS[context.assignment.policy.reasoning];
  const trace: ModelCallerOptions["trace"] = (asked) => context.traceModelCall(asked);
  return { endpoints, signal, clock: context.clock, random, effort, trace };
}

/** The models from the one that answered on: one whose quota is used up is not asked for a title. */
function answeredBy(endpoints: Endpoints, { model }: RuntimeAnswer): Endpoints {
  const [first, ...rest] = endpoints.slice(
    Math.max(
      0,
      endpoints.findIndex(({ ref }) => ref.model === model),
    ),
  );
  return first === undefined ? endpoints : [first, ...rest];
}
