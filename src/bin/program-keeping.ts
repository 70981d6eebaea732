import type { Command } from "commander";
import { createCommand, createGroup, type Run } from "./program-parts.ts";

/** Commands that keep the data: rotation of the master key. */
export const createKeepingCommands = (run: Run): Command[] => [
  createGroup("secrets", "The master key.", [
    createCommand(
      "rotate",
      "Seal anew what RECEIVABLES_SECRET_KEY_PREVIOUS sealed, also while servers run; repeatable.",
    ).action((_options: unknown, self: Command) =>
      run(self, async (io) => (await import("./commands/rotate.ts")).rotateSecrets(io)),
    ),
  ]),
];
