import { RpcError } from "../../rpc/rpcError.js";
import type { Runtime, RuntimeLoader } from "./runtime.js";

/** Runtimes of this build, loaded when a policy names them: nothing of them runs before the policy is frozen. */
const RUNTIMES: Readonly<Record<string, RuntimeLoader>> = {
  echo: async (): Promise<Runtime> => (await import("./echo/echoRuntime.js")).echoRuntime(),
  acp: async (context): Promise<Runtime> => (await import("./acp/acpRuntime.js")).acpRuntime(context),
  openai: async (context): Promise<Runtime> => (await import("./openai/openaiRuntime.js")).openaiRuntime(context),
};

/** Finds the loader of a runtime. @throws RpcError RUNTIME_CONFIG naming the runtime. */
export function runtimeLoader(name: string): RuntimeLoader {
  const loader = Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : undefined;
  if (loader !== undefined) return loader;
  const shown = JSON.stringify(name.slice(0, 64));
  const message = `There is no runtime ${shown}; this worker has: ${Object.keys(RUNTIMES).join(", ")}.`;
  throw new RpcError("RUNTIME_CONFIG", { message });
}
