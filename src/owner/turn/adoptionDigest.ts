import { createHash } from "node:crypto";

import type { ProcessIdentity } from "../../base/processIdentity.js";
import type { StoredFence } from "../../store/turns/fence.js";

/** What a worker must show to adopt: its assignment's secret, bound to the execution and to the proved process. */
export function adoptionDigest(secret: Uint8Array, fence: StoredFence, worker: ProcessIdentity): Buffer {
  const bound = [fence.executionId, fence.epoch, fence.generation, worker.pid, worker.birthTicks]
    .map(String)
    .join("\n");
  return createHash("sha256").update(secret).update("\n").update(bound).digest();
}
