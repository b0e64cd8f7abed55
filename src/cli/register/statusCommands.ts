import type { Register } from "../commandKit.js";

/** Adds what shows a gateway: `status`. */
export const addStatusCommands: Register = (program, { run, example }) => {
  run(example(program.command("status").description("show the state of the gateway"), "status"), async (context) =>
    (await import("../commands/status.js")).status(context),
  );
};
