import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

/** Up to where the gateway that relays has stored this machine's receipts, and the last connection to it. */
export interface ReceiptPlace {
  /** Store of this machine's gateway that the place counts in; empty before the first. */
  readonly storeId: string;
  /** Store of the gateway that relays that the receipts are in; empty before it was known. */
  readonly hubStoreId: string;
  /** Last place that is stored; 0 for none. */
  readonly sequence: number;
  /** Number of the last connection, which a later one is above whatever the clock says; 0 before the first. */
  readonly connection: number;
}

/** Keeps a {@link ReceiptPlace} across restarts. */
export interface PlaceFile {
  /** The place that was kept last. */
  read(): ReceiptPlace;
  /** Replaces what is given. A place that cannot be kept costs receipts that are sent again after the next start. */
  write(place: Partial<ReceiptPlace>): void;
}

const schema = z.strictObject({
  storeId: z.string().max(64),
  hubStoreId: z.string().max(64).default(""),
  sequence: z.int().min(0),
  connection: z.int().min(0).default(0),
});
const NOWHERE: ReceiptPlace = { storeId: "", hubStoreId: "", sequence: 0, connection: 0 };

/** Opens a place's file. One that is missing or damaged is nowhere: every receipt is sent again, which changes nothing. */
export function openPlaceFile(path: string): PlaceFile {
  let place = read(path);
  return {
    read: () => place,
    write(next) {
      place = { ...place, ...next };
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeFileSync(`${path}.new`, JSON.stringify(place), { mode: 0o600 });
        renameSync(`${path}.new`, path);
      } catch {
        // A full disk must not end the connection; this process knows the place.
      }
    },
  };
}

function read(path: string): ReceiptPlace {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return NOWHERE;
  }
}
