/** What of the gateway's own environment a worker may see: nothing that is set for the gateway or holds a secret. */
const PASSED_ON: readonly string[] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM"];

/** The environment of a worker: the scrubbed one of the gateway, what its agent is given, and where to attach. */
export function workerEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string>>,
  ownerSocket: string,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (PASSED_ON.includes(name) || name.startsWith("LC_"))) environment[name] = value;
  }
  return { ...environment, ...given, TALARIA_OWNER_SOCKET: ownerSocket };
}
