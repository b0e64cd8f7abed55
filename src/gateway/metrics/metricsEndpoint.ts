import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { ListenAddress } from "../../base/config/gatewayConfig.js";
import type { Logger } from "../../base/logger.js";
import { RpcError } from "../../rpc/rpcError.js";

/** A bound endpoint. */
export interface MetricsEndpoint {
  /** `http://<host>:<port>/metrics`. */
  readonly url: string;
  /** Accepts nothing more and cuts what is open. */
  close(): Promise<void>;
}

/** What {@link startMetricsEndpoint} serves. */
export interface MetricsSource {
  /** MIME type of the page. */
  readonly contentType: string;
  /** Makes the page. What it throws is answered as 503. */
  readonly page: () => Promise<string>;
}

/** A client gets so long for its request, milliseconds. */
const REQUEST_MS = 10_000;

/**
 * Serves one page over plain HTTP, `GET /metrics`, to whoever can reach it: it holds no text of anybody's.
 * @throws RpcError ADDRESS_IN_USE, LISTEN_FAILED.
 */
export async function startMetricsEndpoint(
  { host, port }: ListenAddress,
  source: MetricsSource,
  log: Logger,
): Promise<MetricsEndpoint> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    void answer(request, response, source, log);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "ADDRESS_IN_USE" : "LISTEN_FAILED";
      reject(
        new RpcError(reason, { message: `The metrics cannot be served on ${host}:${String(port)}.`, cause: error }),
      );
    });
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${String(bound)}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  source: MetricsSource,
  log: Logger,
): Promise<void> {
  const reply = (status: number, type: string, body: string): void => {
    response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
    response.end(method === "HEAD" ? "" : body);
  };
  if (url?.split("?")[0] !== "/metrics") {
    reply(404, "text/plain", "There is /metrics here and nothing else.\n");
    return;
  }
  if (method !== "GET" && method !== "HEAD") {
    reply(405, "text/plain", "Use GET.\n");
    return;
  }
  try {
    reply(200, source.contentType, await source.page());
  } catch (error) {
    log.warn({ err: error }, "metrics could not be read");
    reply(503, "text/plain", "The metrics cannot be read at this moment.\n");
  }
}
