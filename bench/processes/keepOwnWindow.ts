import http2, { type ServerHttp2Session } from "node:http2";

/**
 * Leaves the connections of servers that are made from here on the receive window that HTTP/2 starts with, whoever asks for another one:
 * what a cap on large calls does is measured there. @returns what ends that for servers that are made later
 */
export function keepOwnWindow(): () => void {
  const { createServer } = http2;
  http2.createServer = ((...given: Parameters<typeof createServer>) => {
    const server = createServer(...given);
    // The first to hear of a session: whoever would widen it hears of it later.
    server.on("session", (session: ServerHttp2Session) => {
      Object.assign(session, { settings: () => undefined, setLocalWindowSize: () => undefined });
    });
    return server;
  }) as typeof createServer;
  return () => {
    http2.createServer = createServer;
  };
}
