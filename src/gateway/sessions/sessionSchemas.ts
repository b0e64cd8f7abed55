import { z } from "zod";

import { OnUnknown, SessionState } from "../../gen/talaria/gateway/v1/session.js";
import type * as contract from "../../gen/talaria/gateway/v1/session_service.js";
import { agentField, idField, lineField, pageSizeField, pageTokenField, requestIdField } from "../edge/fields.js";

const session = { sessionId: idField("ses") };
const page = { pageSize: pageSizeField, pageToken: pageTokenField };
const change = { requestId: requestIdField, ...session };
const onUnknown = z.union(
  [
    z.literal(OnUnknown.ON_UNKNOWN_UNSPECIFIED),
    z.literal(OnUnknown.ON_UNKNOWN_PAUSE),
    z.literal(OnUnknown.ON_UNKNOWN_CONTINUE),
  ],
  "is not a known value",
);
const state = z.union(
  [
    z.literal(SessionState.SESSION_STATE_IDLE),
    z.literal(SessionState.SESSION_STATE_RUNNING),
    z.literal(SessionState.SESSION_STATE_QUEUED),
    z.literal(SessionState.SESSION_STATE_PAUSED),
  ],
  "is not a known state",
);

/** What each request of SessionService must look like. */
export const sessionSchemas = {
  listSessions: z.object({
    agent: agentField,
    ...page,
    states: z.array(state).max(4),
    parentSessionId: z.union([z.literal(""), idField("ses")]),
  }) satisfies z.ZodType<contract.ListSessionsRequest>,
  getSession: z.object(session),
  createSession: z.object({
    requestId: requestIdField,
    agent: agentField.min(1, "is required"),
    title: lineField(0, 200),
    onUnknown,
    ignoreRules: z.boolean(),
    safeMode: z.boolean(),
    ignoreUserConfig: z.boolean(),
  }),
  readTranscript: z.object({ ...session, ...page }),
  renameSession: z.object({ ...change, title: lineField(1, 200) }),
  updateSession: z.object({
    ...change,
    onUnknown: onUnknown.refine((value) => value !== OnUnknown.ON_UNKNOWN_UNSPECIFIED, "is required"),
  }),
  resetSession: z.object(change),
  exportSession: z.object(session),
  deleteSession: z.object(change),
};
