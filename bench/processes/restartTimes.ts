import { startBenchGateway, type BenchGateway } from "./benchGateway.js";

/** Longest wait for the first turn, milliseconds. */
const LIMIT_MS = 120_000;

/** What the start of a gateway took, milliseconds; its process's own start is left out. */
export interface RestartTimes {
  /** Until it serves. */
  readonly servesMs: number;
  /** Until a worker has adopted the first waiting message; absent where none waits. */
  readonly runsMs: number | undefined;
}

/** Starts a gateway on a home and takes the time. @param waits whether a message waits there */
export async function restart(
  home: string,
  waits: boolean,
): Promise<{ readonly started: BenchGateway; readonly times: RestartTimes }> {
  const began = performance.now();
  const first: { runs?: Promise<number> } = {};
  const started = await startBenchGateway({
    home,
    onContext: ({ store }) => {
      if (!waits) return;
      first.runs = new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          reject(new Error("no message was taken up"));
        }, LIMIT_MS);
        const stop = store.writer.onCommit(() => {
          if (store.reader.get("SELECT 1 FROM executions WHERE state = 'adopted' LIMIT 1") === undefined) return;
          stop();
          clearTimeout(limit);
          resolve(performance.now() - began);
        });
      });
      first.runs.catch(() => undefined);
    },
  });
  const servesMs = performance.now() - began;
  return { started, times: { servesMs, runsMs: await first.runs } };
}
