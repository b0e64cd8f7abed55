import type { Check } from "../check.js";
import { frameChecks } from "./frameChecks.js";
import { handshakeChecks } from "./handshakeChecks.js";
import { lossChecks } from "./lossChecks.js";
import { promptChecks } from "./promptChecks.js";
import { stopChecks } from "./stopChecks.js";
import { storeChecks } from "./storeChecks.js";
import { toolChecks } from "./toolChecks.js";
import { turnChecks } from "./turnChecks.js";

/** Every check, in the order in which they are told. */
export const allChecks: readonly Check[] = [
  ...handshakeChecks,
  ...turnChecks,
  ...toolChecks,
  ...storeChecks,
  ...promptChecks,
  ...stopChecks,
  ...lossChecks,
  ...frameChecks,
];
