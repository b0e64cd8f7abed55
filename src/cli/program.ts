import { Command, InvalidArgumentError, Option } from "commander";

import { VERSION } from "../base/version.js";
import type { CommandContext } from "./commandContext.js";
import { createCommandContext } from "./commandContext.js";
import { EXIT_CODES_HELP } from "./exitCode.js";
import type { ConnectionOptions } from "./gatewayClient.js";
import { addPeerCommands } from "./peerCommands.js";
import type { Terminal } from "./terminal.js";

interface GlobalOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/**
 * The command line. Each command's code is loaded when it runs.
 * @param exit takes the exit code of a command that ends otherwise than by an error
 */
export function createProgram(terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command("talaria")
    .description("Runs agents in their own processes and carries direct messages between them.")
    .version(VERSION)
    .option("--home <dir>", "the home (default: $TALARIA_HOME, else ~/.talaria)")
    .option("--address <address>", "a gateway elsewhere: unix:<path> or <host>:<port> (default: $TALARIA_ADDRESS)")
    .option("--token <token>", "token for a gateway over TCP (default: $TALARIA_TOKEN)")
    .option("--json", "answer in JSON, one value a line")
    .option("--verbose", "add the details of errors")
    .addHelpText("after", EXIT_CODES_HELP)
    .showHelpAfterError("Add --help for usage.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        terminal.out(text);
      },
      writeErr: (text) => {
        terminal.err(text.replace(/\n$/, ""));
      },
    });
  const run = (command: Command, action: (context: CommandContext, ...args: never[]) => Promise<unknown>): Command =>
    command.action(async (...args: unknown[]) => {
      const context = createCommandContext(program.opts<GlobalOptions>(), terminal);
      try {
        const code = await action(context, ...(args as never[]));
        if (typeof code === "number") exit(code);
      } finally {
        context.close();
      }
    });
  const example = (command: Command, line: string): Command =>
    command.addHelpText("after", `\nExample:\n  $ talaria ${line}`);

  run(
    example(program.command("serve").description("start the gateway of a home and serve until told to stop"), "serve"),
    async (context) => (await import("./commands/serve.js")).serve(context),
  );

  run(
    example(
      program
        .command("run <agent> <text...>")
        .description("run a turn; piped, only the answer is printed")
        .option("--session <id>", "go on in this session of the agent")
        .option("--title <title>", "title of the session that is made")
        .option("--request-id <key>", "repeat a request with its key: the turn runs once"),
      'run main "Say hello"',
    ),
    async (context, agent: string, text: string[], options: object) =>
      (await import("./commands/run.js")).run(context, { agent, text: text.join(" "), ...options }),
  );

  const dm = program.command("dm").description("send direct messages and follow them");
  run(
    example(
      dm
        .command("send <target> <body...>")
        .description("send a message to an agent, a peer or a peer's agent")
        .option("--from <agent>", "send on behalf of this agent (operators only)")
        .option("--in-reply-to <delivery>", "the delivery that this answers")
        .option("--request-id <key>", "repeat a request with its key: the message is sent once")
        .option("--wait", "wait for the end and print the reply"),
      "dm send other/main Hello --wait",
    ),
    async (context, target: string, body: string[], options: object) =>
      (await import("./commands/dm.js")).dmSend(context, { target, body: body.join(" "), ...options }),
  );
  run(
    example(dm.command("show <delivery>").description("show one delivery"), "dm show del_..."),
    async (context, id: string) => (await import("./commands/dm.js")).dmShow(context, id),
  );
  run(
    example(
      dm
        .command("list")
        .description("list deliveries, newest first")
        .option("--agent <agent>", "only those to or from this agent")
        .option("--limit <count>", "at most so many", positive, 50),
      "dm list --agent main",
    ),
    async (context, options: { agent?: string; limit: number }) =>
      (await import("./commands/dm.js")).dmList(context, options),
  );
  run(
    example(dm.command("watch <delivery>").description("follow a delivery to its end"), "dm watch del_..."),
    async (context, id: string) => (await import("./commands/dm.js")).dmWatch(context, id),
  );

  addPeerCommands(program, dm, { run, example });

  run(example(program.command("agents").description("list the agents of the home"), "agents"), async (context) =>
    (await import("./commands/agents.js")).agents(context),
  );

  const sessions = program.command("sessions").description("list, read, reset and delete sessions");
  run(
    example(
      sessions
        .command("list", { isDefault: true })
        .description("list sessions, the last changed first")
        .option("--agent <agent>", "only this agent's")
        .option("--limit <count>", "at most so many", positive, 50),
      "sessions list --agent main",
    ),
    async (context, options: { agent?: string; limit: number }) =>
      (await import("./commands/sessions.js")).sessionsList(context, options),
  );
  for (const [name, description] of [
    ["show", "print a session's transcript"],
    ["reset", "end the conversation so far"],
    ["delete", "delete a session with its history, for good"],
    ["export", "print a session whole, as JSON lines"],
  ] as const) {
    run(
      example(sessions.command(`${name} <session>`).description(description), `sessions ${name} ses_...`),
      async (context, id: string) => (await import("./commands/sessions.js")).sessionsCommand[name](context, id),
    );
  }

  run(example(program.command("status").description("show the state of the gateway"), "status"), async (context) =>
    (await import("./commands/status.js")).status(context),
  );

  const relay = program.command("relay").description("join a machine that cannot be dialled to a gateway");
  run(
    example(
      relay
        .command("connect")
        .description("connect this machine beside its own gateway, and stay connected")
        .requiredOption("--hub <address>", "<host>:<port> where the gateway that relays listens for peers")
        .requiredOption("--pin <pin>", "pin of that gateway's key"),
      "relay connect --hub example.org:7421 --pin sha256:...",
    ),
    async (context, options: { hub: string; pin: string }) =>
      (await import("./commands/relay.js")).relayConnect(context, options),
  );

  run(
    example(
      program.command("pin").description("print the pin of the home's key, for the configuration of a peer"),
      "pin",
    ),
    async (context) => (await import("./commands/pin.js")).pin(context),
  );

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
      (await import("./commands/tokens.js")).tokensCreate(context, name, options.role),
  );
  run(
    example(tokens.command("list", { isDefault: true }).description("list the tokens"), "tokens list"),
    async (context) => (await import("./commands/tokens.js")).tokensList(context),
  );
  run(
    example(tokens.command("revoke <name>").description("take a token back, at once"), "tokens revoke laptop"),
    async (context, name: string) => (await import("./commands/tokens.js")).tokensRevoke(context, name),
  );
  return program;
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("must be a whole number above 0.");
}
