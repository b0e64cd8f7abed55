import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import type { Random } from "../../base/random.js";
import type { Store } from "../../store/store.js";
import type { Neighbourhood } from "../addresses/resolveTarget.js";
import type { AfterCommit } from "../afterCommit.js";
import type { AgentDirectory, PeerDirectory } from "../ports/directory.js";
import type { TurnPort } from "../ports/turnPort.js";
import type { ConnectorDirectory } from "../relay/connectorDirectory.js";
import type { RelayNamespace } from "../relay/relayRosters.js";

/** What the door needs. */
export interface DoorOptions {
  /** This gateway's own name. */
  readonly gateway: string;
  /** Whether messages are accepted at all. */
  readonly enabled: boolean;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly agents: AgentDirectory;
  readonly peers: PeerDirectory;
  readonly turns: TurnPort;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly afterCommit: AfterCommit;
  readonly connectors: ConnectorDirectory;
  /** Agents behind connectors, as they are at the time of the call. */
  readonly relays: () => readonly RelayNamespace[];
  /** What a peer has said of its agents, for their friendly names; absent = nothing is known. */
  readonly rosterOf?: Neighbourhood["rosterOf"];
  /** Whether the gateway is going down; then nothing is admitted. */
  readonly isDraining: () => boolean;
}
