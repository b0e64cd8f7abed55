import type { Register } from "./commandKit.js";
import { addAgentCommands } from "./register/agentCommands.js";
import { addBackupCommands } from "./register/backupCommands.js";
import { addCompletionCommands } from "./register/completionCommands.js";
import { addConformanceCommands } from "./register/conformanceCommands.js";
import { addContextCommands } from "./register/contextCommands.js";
import { addDeliveryCommands } from "./register/deliveryCommands.js";
import { addDmCommands } from "./register/dmCommands.js";
import { addHomeCommands } from "./register/homeCommands.js";
import { addPeerCommands } from "./register/peerCommands.js";
import { addPromptCommands } from "./register/promptCommands.js";
import { addRelayCommands } from "./register/relayCommands.js";
import { addRunCommands } from "./register/runCommands.js";
import { addServeCommands } from "./register/serveCommands.js";
import { addSessionCommands } from "./register/sessionCommands.js";
import { addStatusCommands } from "./register/statusCommands.js";
import { addTokenCommands } from "./register/tokenCommands.js";
import { addUsageCommands } from "./register/usageCommands.js";

/** Every family of commands, in the order in which help lists them. A new family is a file in `register/` and a line here. */
export const registrations: readonly Register[] = [
  addHomeCommands,
  addBackupCommands,
  addServeCommands,
  addRunCommands,
  addDmCommands,
  addDeliveryCommands,
  addPeerCommands,
  addAgentCommands,
  addSessionCommands,
  addPromptCommands,
  addStatusCommands,
  addUsageCommands,
  addRelayCommands,
  addTokenCommands,
  addContextCommands,
  addConformanceCommands,
  addCompletionCommands,
];
