import type { Register } from "../commandKit.js";
import { positive } from "../positive.js";

/** Adds `dm`. */
export const addDmCommands: Register = (program, { run, example }) => {
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
      (await import("../commands/dm.js")).dmSend(context, { target, body: body.join(" "), ...options }),
  );
  run(
    example(dm.command("show <delivery>").description("show one delivery"), "dm show del_..."),
    async (context, id: string) => (await import("../commands/dm.js")).dmShow(context, id),
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
      (await import("../commands/dm.js")).dmList(context, options),
  );
  run(
    example(dm.command("watch <delivery>").description("follow a delivery to its end"), "dm watch del_..."),
    async (context, id: string) => (await import("../commands/dm.js")).dmWatch(context, id),
  );
  run(
    example(
      dm.command("cancel <delivery>").description("withdraw a message that has not started"),
      "dm cancel del_...",
    ),
    async (context, id: string) => (await import("../commands/dmChange.js")).dmCancel(context, id),
  );
  run(
    example(dm.command("redrive <delivery>").description("send a dead letter again"), "dm redrive del_..."),
    async (context, id: string) => (await import("../commands/dmChange.js")).dmRedrive(context, id),
  );
};
