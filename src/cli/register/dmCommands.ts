import type { Register } from "../commandKit.js";
import { addFollowingCommands } from "./deliveryCommands.js";

/** Adds `dm`. */
export const addDmCommands: Register = (program, kit) => {
  const { run, example } = kit;
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
  addFollowingCommands(dm, kit);
};
