import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";

import { systemClock, type Clock } from "../../../base/clock.js";
import { guardedFetch } from "./guardedFetch.js";
import { ModelFailureError } from "./modelFailure.js";

const EVENTS = 'data: {"choices":[]}\n\ndata: [DONE]\n\n';
/** A clock on which every wait is soon over. */
const hasty: Clock = { ...systemClock, after: (_, run) => systemClock.after(20, run) };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Fetches what a server answers with; text, or the failure's reason and message. */
async function fetched(listener: RequestListener, clock: Clock = systemClock): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await (await guardedFetch(clock)(`http://127.0.0.1:${String(port)}/`)).text();
  } catch (error) {
    if (!(error instanceof ModelFailureError)) throw error;
    return `${error.failure.reason}: ${error.failure.message}`;
  }
}

test("a stream ends with its last event, also where the connection stays open", async () => {
  const cut = EVENTS.length - 8;
  const text = await fetched((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(EVENTS.slice(0, cut), () => response.write(EVENTS.slice(cut)));
  });
  expect(text.trimEnd()).toBe(EVENTS.trimEnd());
});

test("an answer that speaks of the last event goes on, and the kind of a body may be written in capitals", async () => {
  const events = `data: {"text":"data: [DONE]"}\n\ndata: more\n\n`;
  const text = await fetched((_, response) => {
    response.writeHead(200, { "content-type": "Text/Event-Stream; charset=utf-8" });
    response.end(events);
  });
  expect(text).toBe(events);
});

test.each([
  [401, "application/json", '{"error":', /^PROVIDER_AUTH: .*\(HTTP 401\)/],
  [200, "text/html", "<p>", /^RUNTIME_CONFIG: .*a web page/],
])("a refusal %i whose body never ends is told by what came of it", async (status, type, body, expected) => {
  const said = await fetched((_, response) => {
    response.writeHead(status, { "content-type": type });
    response.write(body);
  }, hasty);
  expect(said).toMatch(expected);
});
