import type { Build, ProtocolRange } from "../gen/talaria/owner/v1/owner_service.js";

/** What this program says of itself in `hello`. A test holds the version to the package's. */
export const WORKER_BUILD: Build = {
  name: "talaria-worker",
  version: "0.1.0",
  runtime: `node ${process.versions.node}`,
};

/** Revisions of the contract that this program speaks. */
export const WORKER_PROTOCOL: ProtocolRange = { min: 1, max: 1 };
