/** Hosts that mean every address of a machine, and no machine. */
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);
const HOST_AND_PORT = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/@]{1,253}):([0-9]{1,5})$/;

/** A host and a port of an address, or undefined where the text is none. */
export function splitAddress(address: string): { readonly host: string; readonly port: string } | undefined {
  const [, host, port] = HOST_AND_PORT.exec(address) ?? [];
  if (host === undefined || port === undefined || Number(port) === 0 || Number(port) > 65_535) return undefined;
  return { host, port };
}

/**
 * The address of a listener as others can dial it: a wildcard host is replaced by `host`, which names this machine, or where the
 * address came from another one, by what it was seen as.
 */
export function dialableAddress(address: string, host: string): string {
  const parts = splitAddress(address);
  if (parts === undefined || !WILDCARDS.has(parts.host)) return address;
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${parts.port}`;
}

/** The host that a connection comes from, of its remote address with a port. */
export function hostOfRemote(remote: string): string {
  return remote.slice(0, Math.max(0, remote.lastIndexOf(":"))).replace(/^::ffff:/i, "");
}
