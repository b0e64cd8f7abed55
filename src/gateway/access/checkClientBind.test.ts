import { expect, test } from "vitest";

import type { RpcError } from "../../rpc/rpcError.js";
import { checkClientBind } from "./checkClientBind.js";

test.each(["127.0.0.1", "127.8.8.8", "::1", "localhost"])("%s is on this machine", (host) => {
  expect(() => {
    checkClientBind({ host, port: 7420 });
  }).not.toThrow();
});

test.each(["0.0.0.0", "::", "192.168.1.4", "example.org", "127.example.org"])("%s needs TLS", (host) => {
  expect(() => {
    checkClientBind({ host, port: 7420 });
  }).toThrow(expect.objectContaining({ reason: "TRANSPORT_INSECURE" }) as RpcError);
});

test("TLS lets any host be listened on", () => {
  expect(() => {
    checkClientBind({ host: "0.0.0.0", port: 7420, tls: {} });
  }).not.toThrow();
});
