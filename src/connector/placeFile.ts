import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

/** Up to where the gateway that relays has stored this machine's receipts. */
export interface ReceiptPlace {
  /** Store of this machine's gateway that the place counts in; empty before the first. */
  readonly storeId: string;
  /** Last place that is stored; 0 for none. */
  readonly sequence: number;
}

/** Keeps a {@link ReceiptPlace} across restarts. */
export interface PlaceFile {
  /** The place that was kept last. */
  read(): ReceiptPlace;
  /** Replaces it. A place that cannot be kept costs receipts that are sent again. */
  write(place: ReceiptPlace): void;
}

const schema = z.strictObject({ storeId: z.string().max(64), sequence: z.int().min(0) });
const NOWHERE: ReceiptPlace = { storeId: "", sequence: 0 };

/** Opens a place's file. One that is missing or damaged is nowhere: every receipt is sent again, which changes nothing. */
export function openPlaceFile(path: string): PlaceFile {
  let place = read(path);
  return {
    read: () => place,
    write(next) {
      place = next;
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, JSON.stringify(next), { mode: 0o600 });
      renameSync(`${path}.new`, path);
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
