import { expect, test } from "vitest";

import { systemClock } from "../../../base/clock.js";
import type { ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";
import type { SessionUpdate } from "../../packages/acpPackages.js";
import type { Operation } from "../../storeClient.js";
import { createToolCaller } from "../../toolCalls.js";
import type { TurnContext } from "../../turnContext.js";
import { TurnUpdates } from "./turnUpdates.js";

function bench(): { readonly updates: TurnUpdates; readonly rows: ConversationMessage[]; readonly warned: string[] } {
  const rows: ConversationMessage[] = [];
  const warned: string[] = [];
  const { signal } = new AbortController();
  const emit = (): Promise<void> => Promise.resolve();
  const context = {
    signal,
    log: { warn: (message: string) => warned.push(message) },
    emitText: emit,
    callTool: createToolCaller({ emit, announce: emit, clock: systemClock, signal, redact: (text) => text }),
    store: {
      persist: async (operation: Operation) => {
        if (operation.$case === "appendMessages") rows.push(...operation.value.messages);
      },
    },
  } as unknown as TurnContext;
  return { updates: new TurnUpdates(context), rows, warned };
}

const says = (text: string, kind: "message" | "thought" = "message"): SessionUpdate => ({
  sessionUpdate: `agent_${kind}_chunk`,
  content: { type: "text", text },
});
const begins = (toolCallId: string): SessionUpdate => ({ sessionUpdate: "tool_call", toolCallId, title: "Look" });

test("what was said beside a call that the agent leaves open is the answer", async () => {
  const { updates, rows } = bench();
  updates.take(begins("open"));
  updates.take(says("Done."));
  await updates.close();
  expect(updates.text).toBe("Done.");
  expect(rows.map(({ text }) => text)).toEqual(["", "The agent did not say how it ended."]);
});

test.each(["message", "thought"] as const)("a %s without end is read no further", async (kind) => {
  const { updates } = bench();
  const piece = "x".repeat(1_048_576);
  for (let count = 0; count < 16; count += 1) updates.take(says(piece, kind));
  await updates.behind();
  updates.take(says("and on", kind));
  updates.take(says(piece, kind));
  await expect(updates.behind()).rejects.toThrow("it says more than 16 MiB in one answer");
});

test("an update that is none is lost alone", async () => {
  const { updates, warned } = bench();
  updates.take({ sessionUpdate: "agent_message_chunk" } as unknown as SessionUpdate);
  updates.take({ sessionUpdate: "tool_call", title: 5 } as unknown as SessionUpdate);
  updates.take(says("Still here."));
  await updates.close();
  expect(updates.text).toBe("Still here.");
  expect(warned).toContain("an update of the agent was lost");
});
