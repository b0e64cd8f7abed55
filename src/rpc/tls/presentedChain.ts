import type { DetailedPeerCertificate, TLSSocket } from "node:tls";

/** Longer chains than this are not walked: two are expected, and any other number is refused. */
const MAX_CERTIFICATES = 4;

/**
 * The certificates that the other side of a finished handshake presented, leaf first, DER; empty if none. Certificates
 * that do not belong to the leaf's chain are left out, and so are repetitions of the self-signed end.
 */
export function presentedChain(socket: TLSSocket): Buffer[] {
  // Typed as always present, but it is {} without a certificate and null or undefined on a destroyed socket.
  let certificate = socket.getPeerCertificate(true) as Partial<DetailedPeerCertificate> | null | undefined;
  const chain: Buffer[] = [];
  while (certificate?.raw !== undefined && chain.length < MAX_CERTIFICATES) {
    const { raw, issuerCertificate }: Partial<DetailedPeerCertificate> = certificate;
    if (chain.some((earlier) => earlier.equals(raw))) break;
    chain.push(raw);
    certificate = issuerCertificate;
  }
  return chain;
}
