import type { Register } from "../commandKit.js";

/** Adds `backup`, which asks a gateway where one runs, and `restore`, which works on files alone. */
export const addBackupCommands: Register = (program, { run, example }) => {
  run(
    example(
      program
        .command("backup")
        .description("save a home, served or not, in one file: store, configuration, agents, attachments and keys")
        .argument("[file]", "a file that is not there yet; default one in the folder backups of the home"),
      "backup home.tar.gz",
    ),
    async (context, file?: string) => (await import("../commands/backup.js")).backup(context, file),
  );
  run(
    example(
      program
        .command("restore")
        .description("make a home out of a backup; what was queued in it waits to be released")
        .argument("<file>", "a file that talaria backup has made"),
      "restore home.tar.gz --home ~/restored",
    ),
    async (context, file: string) => (await import("../commands/restore.js")).restore(context, file),
  );
};
