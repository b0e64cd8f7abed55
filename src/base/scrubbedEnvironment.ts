/** What of the gateway's own environment another program may see: nothing that is set for the gateway or holds a secret. */
const PASSED_ON: readonly string[] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM"];

/** The part of an environment that programs started by the gateway are given. */
export function scrubbedEnvironment(own: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (PASSED_ON.includes(name) || name.startsWith("LC_"))) environment[name] = value;
  }
  return environment;
}
