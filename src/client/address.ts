import { isLoopback } from "../base/loopback.js";
import { RpcError } from "../rpc/rpcError.js";

/** Where a gateway is, taken apart. */
export type GatewayAddress =
  | { readonly kind: "unix"; readonly path: string; readonly target: string }
  | {
      readonly kind: "tcp";
      readonly host: string;
      readonly port: number;
      readonly tls: boolean;
      readonly target: string;
    };

const HOST_PORT = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/]+):([0-9]{1,5})$/;

/** Reads `unix:<path>`, `<host>:<port>` or `tls:<host>:<port>`. @throws RpcError INVALID_FIELD. */
export function parseAddress(text: string): GatewayAddress {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    if (path !== "") return { kind: "unix", path, target: `unix:${path}` };
  }
  const tls = text.startsWith("tls:");
  const target = tls ? text.slice("tls:".length) : text;
  const [, host = "", port = ""] = HOST_PORT.exec(target) ?? [];
  if (host === "" || Number(port) > 65_535) {
    throw new RpcError("INVALID_FIELD", {
      message: `${JSON.stringify(text)} is no address of a gateway.`,
      hint: "Give unix:<path>, <host>:<port>, or tls:<host>:<port>.",
    });
  }
  return { kind: "tcp", host, port: Number(port), tls, target };
}

/** Whether a token would cross a network in the clear. */
export function isExposed(address: GatewayAddress, tls: boolean): boolean {
  return address.kind === "tcp" && !tls && !isLoopback(address.host);
}
