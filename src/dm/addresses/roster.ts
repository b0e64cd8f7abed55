import { cutToCodePoints } from "../../base/codePoints.js";
import { digestOf } from "../../base/digest.js";
import { Liveness, type RosterEntry } from "../../gen/talaria/dm/v1/roster.js";
import { displayText } from "../admission/displayText.js";
import type { AgentEntry } from "../ports/directory.js";
import { MAIN } from "./resolveTarget.js";

/** What this gateway tells others of its agents: private ones and those without messaging are not there. */
export function rosterOf(agents: readonly AgentEntry[]): readonly RosterEntry[] {
  return agents
    .filter((agent) => !agent.private && agent.messaging)
    .map((agent) => ({
      name: agent.name,
      handle: agent.main ? MAIN : agent.name,
      title: displayText(agent.title, 120),
      description: cutToCodePoints(displayText(agent.description, 160), 160),
      liveness: Liveness.LIVENESS_ONLINE,
      main: agent.main,
      address: "",
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names a roster's content: 12 hexadecimal characters that change when an entry does. */
export function rosterFingerprint(entries: readonly RosterEntry[]): string {
  const parts = entries.flatMap(({ name, handle, title, description, main }) => [
    name,
    handle,
    title,
    description,
    main,
  ]);
  return digestOf(parts).slice(0, 12);
}
