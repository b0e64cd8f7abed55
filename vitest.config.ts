import { defineConfig } from "vitest/config";

/** Limits of one test and of one hook, in milliseconds: a test that waits longer than this on an event has failed. */
const limitMs = 30_000;
const slowLimitMs = 300_000;

/** Suites that take minutes: every kill of a message's life, thousands of peers, the package as it is installed. */
const slow = [
  "test/slow/**/*.test.ts",
  "test/crash/**/*.test.ts",
  // Many commands, each a process of its own.
  "test/cli/{access,agents,client,commands,contexts,home,operate,peerClocks,peers,run,serve,terminal,top,tracing}.test.ts",
  "test/relay/command.test.ts",
  // Deaths of whole gateways, and floods.
  "test/dm/killed.test.ts",
  "test/owner/{killed,slowViewer}.test.ts",
  "test/replay/{turns*,blackHole}.test.ts",
  "test/packaging/{backup,detached,firstProcess,olderHome}.test.ts",
  "test/worker/{acp,sdk,toolsTerminal}.test.ts",
];

/**
 * How often a test that failed is tried again, where it needs processes, sockets and a clock: 0, and 1 in CI, which lists
 * what needed it. Unit tests get one attempt: what fails there in one run of two has found something.
 */
const retry = Number(process.env["TALARIA_TEST_RETRIES"] ?? 0);

const built = "./test/globalSetup.ts";
/** A file fails that leaves something behind. */
const hygiene = "./test/kit/hygiene.ts";

/** Unit tests sit beside the code; everything else starts processes from a fresh `dist`. */
export default defineConfig({
  test: {
    pool: "forks",
    // Two files at once: most of a process-level test's time is waiting, and the machine it is made for has two cores.
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: false,
    coverage: { provider: "v8", include: ["src/**/*.ts"], exclude: ["src/gen/**", "src/**/*.test.ts"] },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts"],
          // One process after another for each file would take longer than the tests. What a unit test leaves behind, the next file
          // meets: none may lean on that, and a file that is run by itself must pass as well.
          isolate: false,
          testTimeout: limitMs,
          hookTimeout: limitMs,
        },
      },
      {
        extends: true,
        test: {
          name: "process",
          retry,
          include: ["test/**/*.test.ts"],
          exclude: [...slow, "test/interop/**"],
          globalSetup: [built],
          setupFiles: [hygiene],
          testTimeout: limitMs,
          hookTimeout: limitMs,
        },
      },
      {
        extends: true,
        test: {
          name: "interop",
          retry,
          include: ["test/interop/**/*.test.ts"],
          globalSetup: [built],
          testTimeout: 2 * limitMs,
          hookTimeout: 2 * limitMs,
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          retry,
          include: slow,
          globalSetup: [built],
          testTimeout: slowLimitMs,
          hookTimeout: slowLimitMs,
        },
      },
    ],
  },
});
