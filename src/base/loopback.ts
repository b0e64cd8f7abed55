import { isIPv4 } from "node:net";

/** Whether a host name or address stays on this machine; brackets around an address of version 6 are allowed. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || (isIPv4(bare) && bare.startsWith("127."));
}
