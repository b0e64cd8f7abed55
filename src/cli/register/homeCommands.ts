import type { Register } from "../commandKit.js";

/** Adds what works on the files of a home: `init`, `config` and `doctor`. */
export const addHomeCommands: Register = (program, { run, example }) => {
  run(
    example(
      program.command("init").description("make a home with a commented talaria.yaml and an agent that needs no key"),
      "init --home ~/work/talaria",
    ),
    async (context) => (await import("../commands/init.js")).init(context),
  );
  const config = program.command("config").description("check and show the configuration of a home");
  run(
    example(
      config.command("check").description("name everything that is wrong in talaria.yaml and the agents' files"),
      "config check",
    ),
    async (context) => (await import("../commands/config.js")).configCheck(context),
  );
  run(
    example(
      config.command("show").description("show the settings that are in force, and where each comes from"),
      "config show",
    ),
    async (context) => (await import("../commands/config.js")).configShow(context),
  );
  run(
    example(
      program
        .command("doctor")
        .description("look for what is or will be wrong, with or without a running gateway, and say how to fix it")
        .option("--offline", "try no model endpoints"),
      "doctor",
    ),
    async (context, options: { offline?: boolean }) => (await import("../commands/doctor.js")).doctor(context, options),
  );
};
