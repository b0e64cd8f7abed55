import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { TlsOptions } from "node:tls";

import type { ClientListenAddress } from "../../base/config/gatewayConfig.js";
import { ConfigError } from "../../base/configError.js";
import type { HomePaths } from "../../base/home.js";
import type { Logger } from "../../base/logger.js";
import type { LeafSource } from "../../rpc/tls/leafCertificate.js";
import { keepLeafFresh, serverTlsOptions, TLS_HANDSHAKE_TIMEOUT_MS } from "../../rpc/tls/serverTls.js";
import type { TcpTransport, TlsTransport } from "../../rpc/transport.js";

/** What {@link clientTransport} works with. */
export interface ClientTransportOptions {
  readonly paths: Pick<HomePaths, "root" | "configFile">;
  /** Leaves under the home's identity key, which clients pin where no certificate is configured. */
  readonly leaves: LeafSource;
  readonly log: Logger;
}

/**
 * The transport of clients over TCP: as it is on this machine, under TLS where that is configured. Clients are known by their token, so
 * none is asked for a certificate. A certificate that is replaced on disk is taken for the next connection.
 * @throws ConfigError for a certificate or key that cannot be used.
 */
export function clientTransport(
  { tls, ...address }: ClientListenAddress,
  { paths, leaves, log }: ClientTransportOptions,
): TcpTransport | TlsTransport {
  if (tls === undefined) return { kind: "tcp", ...address };
  const anonymous = (): "anonymous" => "anonymous";
  if (tls.cert === undefined || tls.key === undefined) {
    const tlsOptions: TlsOptions = { ...serverTlsOptions(leaves), requestCert: false };
    const onServer: TlsTransport["onServer"] = (server) => void keepLeafFresh(server, leaves);
    return { kind: "tls", ...address, tlsOptions, authorize: anonymous, onServer };
  }
  const files = { cert: resolve(paths.root, tls.cert), key: resolve(paths.root, tls.key) };
  return {
    kind: "tls",
    ...address,
    tlsOptions: {
      ...readPair(files, paths.configFile),
      minVersion: "TLSv1.2",
      ALPNProtocols: ["h2"],
      handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    },
    authorize: anonymous,
    onServer: (server) => {
      let seen = markOf(files);
      // Before the listener of tls.Server itself, which takes the secure context when the TCP connection arrives.
      server.prependListener("connection", () => {
        const mark = markOf(files);
        if (mark === seen) return;
        seen = mark;
        try {
          server.setSecureContext({ ...readPair(files, paths.configFile), minVersion: "TLSv1.2" });
        } catch (error) {
          log.error({ err: error }, "the certificate of clients cannot be read again: the earlier one stays");
        }
      });
    },
  };
}

interface PairFiles {
  readonly cert: string;
  readonly key: string;
}

function readPair({ cert, key }: PairFiles, configFile: string): { readonly cert: Buffer; readonly key: Buffer } {
  return { cert: read(cert, "cert", configFile), key: read(key, "key", configFile) };
}

function read(path: string, name: "cert" | "key", file: string): Buffer {
  const at = { file, key: `listeners.client_tcp.tls.${name}` };
  try {
    const stat = statSync(path);
    if (name === "key" && (stat.mode & 0o077) !== 0) {
      throw new ConfigError({ ...at, problem: `${path} may be read by others`, hint: `chmod 600 ${path}` });
    }
    return readFileSync(path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ConfigError({ ...at, problem: `${path} cannot be read: ${code}` }, { cause: error });
  }
}

function markOf({ cert, key }: PairFiles): string {
  return [cert, key]
    .map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
    .map((stat) => (stat === undefined ? "" : `${String(stat.ino)} ${String(stat.mtimeNs)}`))
    .join(" ");
}
