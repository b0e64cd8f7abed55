import type { Build } from "../gen/talaria/owner/v1/owner_service.js";
import type { RuntimeLoader } from "./runtimes/runtime.js";

/** What a worker process runs. The protocol is the same for every program. */
export interface WorkerProgram {
  /** What it says of itself in `hello`. */
  readonly build: Build;
  /** Finds what runs the turns of a policy's runtime. @throws RpcError RUNTIME_CONFIG naming the runtime. */
  readonly runtimes: (name: string) => RuntimeLoader;
  /** Loads a runtime's code and runs none of its turns; a name that it does not know, or cannot load, changes nothing. Default: nothing. */
  readonly preload?: (runtime: string) => Promise<void>;
}
