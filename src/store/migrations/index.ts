import { m0001Foundation } from "./m0001Foundation.js";
import { m0002Sessions } from "./m0002Sessions.js";
import { m0003Deliveries } from "./m0003Deliveries.js";
import { m0004SessionRequests } from "./m0004SessionRequests.js";
import { m0005Peers } from "./m0005Peers.js";
import { m0006TurnOutcomes } from "./m0006TurnOutcomes.js";
import { m0007UsageAndRetention } from "./m0007UsageAndRetention.js";
import { m0008AdmittedTotals } from "./m0008AdmittedTotals.js";
import { m0009OpenDeliveries } from "./m0009OpenDeliveries.js";
import type { Migration } from "./migration.js";

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [
  m0001Foundation,
  m0002Sessions,
  m0003Deliveries,
  m0004SessionRequests,
  m0005Peers,
  m0006TurnOutcomes,
  m0007UsageAndRetention,
  m0008AdmittedTotals,
  m0009OpenDeliveries,
];
