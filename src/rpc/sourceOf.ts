import type { Connection } from "./connection.js";

/** Groups of an address of version 6, and those of them that stand for one customer. */
const GROUPS = 8;
const CUSTOMER_GROUPS = 4;

/** The address that a connection comes from, without its port; of version 6 the part that one customer is given. */
export function sourceOf({ remote }: Pick<Connection, "remote">): string {
  const host = remote.slice(0, remote.lastIndexOf(":"));
  if (!host.includes(":") || host.startsWith("::ffff:")) return host;
  const [head = [], tail = []] = host.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(Math.max(0, GROUPS - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, CUSTOMER_GROUPS).join(":");
}
