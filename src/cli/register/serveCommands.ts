import type { Register } from "../commandKit.js";

/** Adds `serve`. */
export const addServeCommands: Register = (program, { run, example }) => {
  run(
    example(program.command("serve").description("start the gateway of a home and serve until told to stop"), "serve"),
    async (context) => (await import("../commands/serve.js")).serve(context),
  );
};
