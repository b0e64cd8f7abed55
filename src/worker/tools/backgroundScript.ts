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

/** What one `dd` passes on at most, in reads of {@link READ_BYTES}: it passes each on as it comes. */
const READS = 16;
const READ_BYTES = 8_192;

/**
 * A script for `sh -c SCRIPT sh WORKSPACE PROGRAM ARGUMENT...`, in the process's folder, that runs the program in the workspace, keeps
 * the last of what it prints in two files that never grow beyond their half as it comes, and writes the exit code when it has ended.
 * Nothing else needs to live for it. Names are relative: whatever becomes of the folder's path, nothing is written elsewhere. Output
 * that cannot be kept is read all the same, or the program would be ended by it.
 */
export const BACKGROUND_SCRIPT = `
workspace=$1
shift
{
  (cd "$workspace" && exec "$@")
  echo "$?" >${BACKGROUND_FILES.exit}.partial
  mv ${BACKGROUND_FILES.exit}.partial ${BACKGROUND_FILES.exit}
} </dev/null 2>&1 | while :; do
  case $(LC_ALL=C dd bs=${String(READ_BYTES)} count=${String(READS)} 2>&1 >>${BACKGROUND_FILES.current}) in
    "0+0 records in"*) break ;;
    *" records in"*) ;;
    *) exec cat >/dev/null ;;
  esac
  [ "$(wc -c <${BACKGROUND_FILES.current})" -gt ${String(OUTPUT_HALF_BYTES - READS * READ_BYTES)} ] &&
    mv ${BACKGROUND_FILES.current} ${BACKGROUND_FILES.previous}
done
`;
