import { scrubbedEnvironment } from "../../base/scrubbedEnvironment.js";

/** The environment of a worker: the scrubbed one of the gateway, what its agent is given, and where to attach. */
export function workerEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string>>,
  ownerSocket: string,
): Record<string, string> {
  return { ...scrubbedEnvironment(own), ...given, TALARIA_OWNER_SOCKET: ownerSocket };
}
