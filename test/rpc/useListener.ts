import type { Client } from "@grpc/grpc-js";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { silentLogger } from "../../src/base/logger.js";
import type { Authenticate } from "../../src/rpc/authentication.js";
import type { ChannelPurpose } from "../../src/rpc/channelOptions.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { implementService, type Handlers, type ServiceImplementation } from "../../src/rpc/harness/implementService.js";
import { defineUnimplemented } from "../../src/rpc/harness/methods.js";
import { startListener, type Listener, type ListenerOptions } from "../../src/rpc/listener.js";
import { EchoService } from "./echoDefinition.js";

/** Lets everybody in. */
export const letIn: Authenticate = () => ({ kind: "client", name: "test", role: "operator" });

/** An echo service with the given handlers; the others are left out on purpose. */
export function echo(handlers: Partial<Handlers<typeof EchoService>>): ServiceImplementation {
  const rest = defineUnimplemented();
  return implementService(EchoService, { unary: rest, down: rest, up: rest, both: rest, ...handlers });
}

/** A fresh directory that goes when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "rpc-"));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** Starts a listener on a Unix socket in a fresh directory; it and its connections go when the test ends. */
export async function useListener(
  services: readonly ServiceImplementation[],
  options: Partial<ListenerOptions> = {},
): Promise<Listener> {
  const listener = await startListener({
    name: "test",
    services,
    authenticate: letIn,
    transport: { kind: "unix", path: join(temporaryDirectory(), "s") },
    log: silentLogger(),
    ...options,
  });
  onTestFinished(() => listener.close());
  return listener;
}

/** A client with a connection of its own, closed when the test ends. */
export function useClient(address: string, purpose: ChannelPurpose = "unix"): Client {
  const client = createClient({ address, purpose, ownConnection: true });
  onTestFinished(() => {
    client.close();
  });
  return client;
}

/** What a promise is rejected with. @throws Error where it is not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (caught) {
    return caught;
  }
  throw new Error("the promise was fulfilled");
}
