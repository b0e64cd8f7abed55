/** Half of what is kept of a background process's output, bytes. */
export const OUTPUT_HALF_BYTES = 262_144;

/** Files of a background process in its folder. */
export const BACKGROUND_FILES = {
  /** Exit code, once it has ended. */
  exit: "exit",
  /** The half of the output that is being written. */
  current: "output.1",
  /** The half before it. */
  previous: "output.0",
  /** Boot of the machine in which it was started. */
  boot: "boot",
} as const;

/**
 * A script for `sh -c SCRIPT sh FOLDER PROGRAM ARGUMENT...` that runs the program, keeps the last of what it prints in two files that
 * never grow beyond their half as it comes, and writes the exit code when it has ended. Nothing else needs to live for it.
 */
export const BACKGROUND_SCRIPT = `
folder=$1
shift
{
  "$@"
  echo "$?" >"$folder/exit.partial"
  mv "$folder/exit.partial" "$folder/${BACKGROUND_FILES.exit}"
} </dev/null 2>&1 | while :; do
  dd bs=65536 count=${String(OUTPUT_HALF_BYTES)} iflag=count_bytes 2>/dev/null >"$folder/${BACKGROUND_FILES.current}"
  [ "$(wc -c <"$folder/${BACKGROUND_FILES.current}")" -lt ${String(OUTPUT_HALF_BYTES)} ] && break
  mv "$folder/${BACKGROUND_FILES.current}" "$folder/${BACKGROUND_FILES.previous}"
done
`;
