import { type Command, Option } from "commander";

import type { CommandKit, Register } from "../commandKit.js";
import { positive } from "../positive.js";

/** States of a delivery as a person types them. */
const STATES = ["queued", "claimed", "replied", "silent", "failed", "expired", "cancelled", "unknown"];

/** Adds to a group what follows and changes deliveries: the same commands under `dm` and under `deliveries`. */
export function addFollowingCommands(group: Command, { run, example }: CommandKit): void {
  const under = group.name();
  run(
    example(
      group
        .command("list", under === "deliveries" ? { isDefault: true } : {})
        .description("list deliveries, newest first")
        .option("--agent <agent>", "only those to or from this agent")
        .option("--gateway <name>", "only those to or from this peer or connector")
        .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
        .option("--dead", "only dead letters, which redrive sends again")
        .option("--limit <count>", "at most so many", positive, 50),
      `${under} list --agent main`,
    ),
    async (context, options: { limit: number }) => (await import("../commands/dm.js")).dmList(context, options),
  );
  run(
    example(group.command("show <delivery>").description("show one delivery"), `${under} show del_...`),
    async (context, id: string) => (await import("../commands/dm.js")).dmShow(context, id),
  );
  run(
    example(group.command("watch <delivery>").description("follow a delivery to its end"), `${under} watch del_...`),
    async (context, id: string) => (await import("../commands/dm.js")).dmWatch(context, id),
  );
  run(
    example(
      group.command("cancel <delivery>").description("withdraw a message that has not started"),
      `${under} cancel del_...`,
    ),
    async (context, id: string) => (await import("../commands/dmChange.js")).dmCancel(context, id),
  );
  run(
    example(group.command("redrive <delivery>").description("send a dead letter again"), `${under} redrive del_...`),
    async (context, id: string) => (await import("../commands/dmChange.js")).dmRedrive(context, id),
  );
}

/** Adds `deliveries`. */
export const addDeliveryCommands: Register = (program, kit) => {
  addFollowingCommands(program.command("deliveries").description("list, follow, withdraw and redrive deliveries"), kit);
};
