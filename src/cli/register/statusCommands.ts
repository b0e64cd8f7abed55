import type { Register } from "../commandKit.js";

/** Adds what shows a gateway: `status` and `top`. */
export const addStatusCommands: Register = (program, { run, example }) => {
  run(example(program.command("status").description("show the state of the gateway"), "status"), async (context) =>
    (await import("../commands/status.js")).status(context),
  );
  run(
    example(
      program.command("top").description("watch a gateway live, and answer, stop, cancel, hold and redrive"),
      "top",
    ),
    async (context) => (await import("../commands/top.js")).top(context),
  );
};
