/** Whose key was presented on a TLS connection, as the pin table knew it when the connection was accepted. */
export type PeerIdentity =
  | {
      /** A paired gateway or connector. */
      readonly kind: "peer" | "connector";
      /** Name that this gateway gave it. */
      readonly name: string;
      /** Pin of the presented key. */
      readonly pin: string;
    }
  | {
      /** A key that is not paired; it may pair only. */
      readonly kind: "unknown";
      /** Pin of the presented key. */
      readonly pin: string;
    };
