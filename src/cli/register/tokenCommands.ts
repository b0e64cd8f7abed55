import { Option } from "commander";

import type { Register } from "../commandKit.js";

/** Adds `tokens`. */
export const addTokenCommands: Register = (program, { run, example }) => {
  const tokens = program
    .command("tokens")
    .description("tokens of clients that come over TCP; works on the home's file");
  run(
    example(
      tokens
        .command("create <name>")
        .description("make a token and print it; it is shown this once")
        .addOption(
          new Option("--role <role>", "what it allows").choices(["operator", "client", "reader"]).default("client"),
        ),
      "tokens create laptop --role client",
    ),
    async (context, name: string, options: { role: "operator" | "client" | "reader" }) =>
      (await import("../commands/tokens.js")).tokensCreate(context, name, options.role),
  );
  run(
    example(tokens.command("list", { isDefault: true }).description("list the tokens"), "tokens list"),
    async (context) => (await import("../commands/tokens.js")).tokensList(context),
  );
  run(
    example(tokens.command("revoke <name>").description("take a token back, at once"), "tokens revoke laptop"),
    async (context, name: string) => (await import("../commands/tokens.js")).tokensRevoke(context, name),
  );
};
