import { newId } from "../../src/base/ids.js";
import { systemRandom } from "../../src/base/random.js";
import { admitTurn } from "../../src/owner/admission/admitTurn.js";
import type { Owner } from "../../src/owner/owner.js";

/** Queues a text as the input of a session of its own, without waking it. @returns the session's id */
export async function admitText(owner: Owner, text: string): Promise<string> {
  const { turn } = await admitTurn(owner.parts, {
    principal: "client:bench",
    requestId: newId("inp", systemRandom),
    target: { kind: "agent", agent: "main" },
    text,
    headless: false,
    title: "",
    traceparent: "",
    tracestate: "",
  });
  return turn.sessionId;
}
