import type { Command } from "commander";
import { createCommand, createGroup, type Run } from "./program-parts.ts";

const load = () => import("./commands/backup.ts");

/** Commands that keep the data: backup, restore, and the rotation of the master key. */
export const createKeepingCommands = (run: Run): Command[] => [
  createCommand("backup", "Copy the embedded store and its files, also while servers run.")
    .argument("<folder>", "a folder that is empty, or does not exist yet")
    .action((folder: string, _options: unknown, self: Command) =>
      run(self, async (io) => (await load()).backUp(io, folder)),
    ),
  createCommand("restore", "Restore a backup into a data folder that has no tenant.")
    .argument("<folder>", "the folder of the backup")
    .action((folder: string, _options: unknown, self: Command) =>
      run(self, async (io) => (await load()).restore(io, folder)),
    ),
  createGroup("secrets", "The master key.", [
    createCommand(
      "rotate",
      "Seal again what RECEIVABLES_SECRET_KEY_PREVIOUS sealed, also while servers run; repeatable.",
    ).action((_options: unknown, self: Command) =>
      run(self, async (io) => (await import("./commands/rotate.ts")).rotateSecrets(io)),
    ),
  ]),
];
