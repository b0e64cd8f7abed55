import { RpcError } from "../../rpc/rpcError.js";
import type { Runtime, RuntimeLoader } from "./runtime.js";

/** A runtime of this build. */
interface RuntimeEntry {
  /** Builds it, loading its code first where that is missing. */
  readonly build: RuntimeLoader;
  /** Loads its code, with the packages that every turn of it needs. */
  readonly load: () => Promise<unknown>;
}

/** Runtimes of this build, loaded when a policy names them or a pooled worker is told to expect them: no turn pays for another's. */
const RUNTIMES: Readonly<Record<string, RuntimeEntry>> = {
  echo: {
    build: async (): Promise<Runtime> => (await import("./echo/echoRuntime.js")).echoRuntime(),
    load: () => import("./echo/echoRuntime.js"),
  },
  acp: {
    build: async (context): Promise<Runtime> => (await import("./acp/acpRuntime.js")).acpRuntime(context),
    load: () => Promise.all([import("./acp/acpRuntime.js"), import("../packages/acpPackages.js")]),
  },
  openai: {
    build: async (context): Promise<Runtime> => (await import("./openai/openaiRuntime.js")).openaiRuntime(context),
    load: () => Promise.all([import("./openai/openaiRuntime.js"), import("../packages/modelPackages.js")]),
  },
};

/** Finds what builds a runtime. @throws RpcError RUNTIME_CONFIG naming the runtime. */
export function runtimeLoader(name: string): RuntimeLoader {
  const entry = entryOf(name);
  if (entry !== undefined) return entry.build;
  const shown = JSON.stringify(name.slice(0, 64));
  const message = `There is no runtime ${shown}; this worker has: ${Object.keys(RUNTIMES).join(", ")}.`;
  throw new RpcError("RUNTIME_CONFIG", { message });
}

/** Loads a runtime's code ahead of a turn. A name that is none of this build's changes nothing; so does code that cannot be loaded. */
export async function preloadRuntime(name: string): Promise<void> {
  await entryOf(name)
    ?.load()
    .catch(() => undefined);
}

function entryOf(name: string): RuntimeEntry | undefined {
  return Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : undefined;
}
