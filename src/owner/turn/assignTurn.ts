import { LIMITS } from "../../base/limits.js";
import type { Bootstrap } from "../../gen/talaria/owner/v1/owner_service.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import { inputAttachments } from "../../store/queries/attachments.js";
import { assignExecution } from "../../store/turns/assignExecution.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { StoredFence } from "../../store/turns/fence.js";
import { attachmentPath, toAttachment } from "../attachments/toAttachment.js";
import type { WorkerLink } from "../attach/workerLink.js";
import { evidenceText } from "../identity/workerEvidence.js";
import { resolveCredentials } from "../policy/resolveCredentials.js";
import { commandsGranted } from "../prompts/commandsGranted.js";
import { makeOutbox, outboxDirectory, outboxKey } from "../recovery/outbox.js";
import { fenceError } from "../store/fenceError.js";
import type { WorkerTrace } from "../trace/turnTrace.js";
import { adoptionDigest } from "./adoptionDigest.js";
import { bootstrapFrame } from "./bootstrapFrame.js";
import type { TurnParts } from "./turnParts.js";
import { viewedIn } from "./viewedIn.js";
import type { WorkPlace } from "./workerSeat.js";

/** Which turn is given to which worker. */
export interface TurnAssignment {
  readonly claimed: ClaimedInput;
  readonly fence: StoredFence;
  readonly link: WorkerLink;
  readonly place: WorkPlace;
  readonly trace: WorkerTrace;
}

/**
 * Commits that a proved worker has this turn and makes the bootstrap to send it.
 * @throws RpcError RUNTIME_CONFIG where a credential cannot be had; the fence's reason where it is stale.
 */
export async function assignTurn(parts: TurnParts, assignment: TurnAssignment): Promise<Bootstrap> {
  const { store, random, paths, secrets, hub, offer } = parts;
  const { claimed, fence, link } = assignment;
  const { agent, workspace, environment, replaces } = assignment.place;
  const policy = Policy.decode(claimed.policy);
  const credentials = resolveCredentials(agent, policy, environment, secrets);
  const assignmentSecret = random.bytes(LIMITS.secretBytes);
  const assigned = await store.writer.execute(assignExecution, {
    fence,
    epoch: store.epoch,
    launchId: link.launch.id,
    ...(replaces === undefined ? {} : { replaces }),
    adoptionDigest: adoptionDigest(assignmentSecret, fence, link.evidence.process),
    evidence: evidenceText(link.evidence),
  });
  if (assigned.kind === "stale") throw fenceError(assigned.problem);
  const directory = outboxDirectory(paths.outboxesDir, fence.executionId);
  makeOutbox(directory);
  const fromMessage = claimed.input.from_message === 1;
  return bootstrapFrame(parts, {
    executionId: fence.executionId,
    claimed,
    trace: assignment.trace,
    agent,
    policy,
    offer: offer(agent.name, claimed.botChat),
    credentials,
    // A stored grant is the person's word for their own turns, not for another gateway's messages. Source: DESIGN section 4.
    grantedCommands: fromMessage ? [] : commandsGranted(store.reader, agent.name, viewedIn(store.reader, claimed)),
    assignmentSecret,
    outboxDirectory: directory,
    outboxKey: outboxKey(store.homeKey, fence.executionId),
    headless:
      claimed.input.headless === 1 ||
      (fromMessage && !viewedIn(store.reader, claimed).some((sessionId) => hub.hasAnswerer(sessionId))),
    workspace,
    attachments: inputAttachments(store.reader, claimed.input.input_id).map((row) =>
      toAttachment(row, attachmentPath(paths.attachmentsDir, row.sha256)),
    ),
  });
}
