import { systemClock } from "../../src/base/clock.js";
import { readAgents } from "../../src/base/config/readAgents.js";
import { DEFAULT_BUDGETS } from "../../src/base/budgets.js";
import { ensureHome } from "../../src/base/ensureHome.js";
import { homePaths } from "../../src/base/home.js";
import { newId } from "../../src/base/ids.js";
import { systemRandom } from "../../src/base/random.js";
import { messageDigest } from "../../src/dm/admission/messageDigest.js";
import { frozenPolicies } from "../../src/gateway/messages/frozenPolicies.js";
import { formatTraceparent, startTrace } from "../../src/rpc/traceContext.js";
import { admitDeliveries } from "../../src/store/deliveries/admitDelivery.js";
import { agentAuthorId } from "../../src/store/deliveries/authorIds.js";
import type { DeliveryDraft } from "../../src/store/deliveries/deliveryDraft.js";
import { ORDERED_ID_BYTES, orderedId } from "../../src/store/deliveries/orderedId.js";
import { makeDraft } from "../../src/store/deliveries/testing/makeDraft.js";
import { openStore } from "../../src/store/store.js";

/** Messages of one commit. */
const COMMIT = 256;
/** Senders of each recipient's messages, so that none reaches its quota. */
const SENDERS = ["ada", "bob"] as const;

/** Messages that wait in a home. */
export interface BacklogShape {
  readonly count: number;
  /** Agents that they wait for, in turn. */
  readonly recipients: readonly string[];
  /** Bytes of a body; each begins with the message's number. */
  readonly bytes: number;
  /** The other gateway: where the messages go to, or where they came from. */
  readonly other: string;
  readonly direction: "outbound" | "inbound";
}

/** Lets messages wait in a home, as the door leaves them. */
export async function seedBacklog(home: string, shape: BacklogShape): Promise<void> {
  const paths = homePaths(home);
  ensureHome(paths);
  const store = await openStore(paths);
  try {
    const draftOf = drafts(paths.agentsDir, shape);
    for (let from = 0; from < shape.count; from += COMMIT) {
      const size = Math.min(COMMIT, shape.count - from);
      const batch = Array.from({ length: size }, (_, place) => draftOf(from + place));
      const refused = (await store.writer.execute(admitDeliveries, batch)).find(({ kind }) => kind !== "accepted");
      if (refused !== undefined) throw new Error(`a message was not accepted: ${JSON.stringify(refused)}`);
    }
  } finally {
    await store.close();
  }
}

function drafts(agentsDir: string, shape: BacklogShape): (index: number) => DeliveryDraft {
  const { recipients, bytes, other, direction } = shape;
  const outbound = direction === "outbound";
  const policyOf = frozenPolicies();
  const agents = new Map<string, ReturnType<typeof readAgents>["agents"][number]>();
  for (const agent of readAgents(agentsDir).agents) agents.set(agent.name, agent);
  const chatOf = (name: string): DeliveryDraft["recipientChat"] => {
    const agent = agents.get(name);
    if (agent === undefined) throw new Error(`the home has no agent ${name}`);
    return { agent: name, sessionId: newId("ses", systemRandom), policy: policyOf(agent) };
  };
  return (index) => {
    const now = systemClock.now();
    const recipient = recipients[index % recipients.length] ?? "";
    const name = SENDERS[Math.floor(index / recipients.length) % SENDERS.length] ?? SENDERS[0];
    const senderId = agentAuthorId(outbound ? "" : other, name);
    const body = `${String(index)} `.padEnd(bytes, "x");
    const target = outbound ? `${other}/${recipient}` : recipient;
    const deliveryId = orderedId("del", now, systemRandom.bytes(ORDERED_ID_BYTES));
    return makeDraft({
      deliveryId,
      principalScope: outbound ? `agent:${name}` : `peer:${other}`,
      key: `seed-${String(index).padStart(8, "0")}`,
      digest: messageDigest({ senderId, target, body, inReplyTo: "" }),
      route: outbound ? "peer_outbound" : "peer_inbound",
      sender: { kind: outbound ? "local_agent" : "peer_agent", id: senderId, displayName: name, sentBy: "" },
      attribution: `Message from ${name} (@${outbound ? name : `${other}/${name}`}):`,
      target,
      recipientGateway: outbound ? other : "",
      recipientAgent: recipient,
      body,
      hops: outbound ? [] : [{ gateway: other, acceptedAt: now, attempt: 1, deliveryId: "" }],
      expiresAt: now + DEFAULT_BUDGETS.messageLifetimeMs,
      traceparent: formatTraceparent(startTrace(systemRandom)),
      recipientChat: outbound ? undefined : chatOf(recipient),
      now,
    });
  };
}
