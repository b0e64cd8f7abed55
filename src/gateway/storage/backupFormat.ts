import { z } from "zod";

/** Name of the description inside a backup. */
export const MANIFEST = "backup.json";
/** Name of the store's snapshot inside a backup; as in a home. */
export const SNAPSHOT = "state.db";

/** What the name of a folder begins with in which a backup is made, beside the file to be. */
export const STAGE_PREFIX = ".talaria-backup-";

const NAME = /^home-\d{8}T\d{6}Z-[0-9a-f]{6}\.tar\.gz$/;

/** The name of a backup whose maker gives it none. @param now epoch milliseconds @param bytes three random ones */
export function backupName(now: number, bytes: Uint8Array): string {
  const at = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return `home-${at}-${Buffer.from(bytes).toString("hex")}.tar.gz`;
}

/** Whether a name is of the kind that {@link backupName} gives. */
export function isBackupName(name: string): boolean {
  return NAME.test(name);
}

/** What a backup says of itself. */
export const manifestSchema = z.object({
  /** Rises when the layout changes. */
  format: z.literal(1),
  /** When it was made, ISO 8601. */
  madeAt: z.string(),
  /** Version of the program that made it. */
  version: z.string(),
  /** Names the home. */
  homeId: z.string(),
  /** The home's epoch. */
  epoch: z.int(),
  /** Version of the store's schema. */
  schema: z.int(),
});

/** See {@link manifestSchema}. */
export type Manifest = z.infer<typeof manifestSchema>;

/** What of a home a backup leaves out: what belongs to a process, can be made again, is in the snapshot, or is a backup. */
const LEFT_OUT = /^(run|logs|cache|outboxes|backups|lock\.db.*|state\.db.*|client-tokens\.yaml\.uses|backup\.json)$/;

/** Whether an entry of a home's root goes into a backup. */
export function isKept(name: string): boolean {
  return !LEFT_OUT.test(name);
}
