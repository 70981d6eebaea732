import { Command } from "commander";
import {
  createGroup,
  createCommand,
  PERSON,
  parsePort,
  PROFILE,
  REMOTE,
  type Run,
  TOOLS,
} from "./program-parts.ts";
import { createAdminCommand } from "./program-admin.ts";
import { createImportCommand } from "./program-import.ts";
import { withoutMoreRoom } from "./room.ts";
import type { Address } from "./serve.ts";

const createServerCommands = (run: Run): Command[] => [
  createCommand("stdio", "The MCP server over stdio; the default command.", [
    ...PROFILE,
    ...TOOLS,
    ...REMOTE,
  ]).action((_options: unknown, self: Command) =>
    run(self, async (io) => (await import("./commands/stdio.ts")).serveStdio(io)),
  ),
  createCommand("http", "Platform and MCP server in one process, over HTTP; MCP at /mcp.", [
    ...PROFILE,
    ...TOOLS,
    ...REMOTE,
  ])
    .option("--host <address>", "address to listen at", "127.0.0.1")
    .option("--port <number>", "port to listen at, 0 for a free one", parsePort, 8765)
    .action(({ host, port: number }: Address, self: Command) =>
      run(self, async (io) => {
        const { serveHttp } = await withoutMoreRoom(() => import("./commands/http.ts"));
        await serveHttp(io, { host, port: number });
      }),
    ),
  createCommand("platform", "The REST platform only.")
    .option("--host <address>", "address to listen at", "127.0.0.1")
    .option("--port <number>", "port to listen at, 0 for a free one", parsePort, 8080)
    .action(({ host, port: number }: Address, self: Command) =>
      run(self, async (io) => {
        const { servePlatform } = await withoutMoreRoom(() => import("./commands/platform.ts"));
        await servePlatform(io, { host, port: number });
      }),
    ),
];

const createSecretCommands = (run: Run): Command =>
  createGroup("secrets", "Secrets that tools stored for a person, such as new API keys.", [
    createCommand("list", "List their names, one per line.").action(
      (_options: unknown, self: Command) =>
        run(self, async (io) => (await import("./commands/secrets.ts")).listSecrets(io)),
    ),
    createCommand("show", "Show one on a terminal, or write it to a file.")
      .argument("<name>")
      .option("--out <file>", "write it to a file that only you can read")
      .action((name: string, { out }: { out?: string }, self: Command) =>
        run(self, async (io) => (await import("./commands/secrets.ts")).showSecret(io, name, out)),
      ),
    createCommand("remove", "Remove one.")
      .argument("<name>")
      .action((name: string, _options: unknown, self: Command) =>
        run(self, async (io) => (await import("./commands/secrets.ts")).removeSecret(io, name)),
      ),
  ]);

const createExportSpecCommand = (run: Run): Command =>
  createCommand("export-spec", "Print the OpenAPI 3.1 document of the REST platform.").action(
    (_options: unknown, self: Command) =>
      run(self, async (io) => (await import("./commands/export-spec.ts")).exportSpec(io)),
  );

const createProfileCommands = (run: Run): Command[] => [
  createCommand(
    "login",
    "Sign in to a remote platform once, and store an API key for it as a profile.",
    [...PERSON, ...REMOTE],
  )
    .option("--keep-password", "store the password instead of creating an API key")
    .action(({ keepPassword }: { keepPassword?: boolean }, self: Command) =>
      run(self, async (io) => (await import("./commands/login.ts")).login(io, { keepPassword })),
    ),
  createCommand("logout", "Revoke a profile's API key, and remove the profile.", PERSON).action(
    (_options: unknown, self: Command) =>
      run(self, async (io) => (await import("./commands/logout.ts")).logout(io)),
  ),
  createCommand("profiles", "List the profiles, one per line, without secrets.").action(
    (_options: unknown, self: Command) =>
      run(self, async (io) => (await import("./commands/profiles.ts")).listProfiles(io)),
  ),
];

const createDoctorCommand = (run: Run): Command =>
  createCommand(
    "doctor",
    "Check settings, addresses, credentials and rights, with a hint per fault.",
    [...PROFILE, ...TOOLS, ...REMOTE],
  )
    .option("--json", "print JSON alone")
    .action(({ json = false }: { json?: boolean }, self: Command) =>
      run(self, async (io) => (await import("./commands/doctor.ts")).runDoctor(io, { json }), {
        acceptsUnknown: true,
      }),
    );

const createAuditCommand = (run: Run): Command =>
  createCommand("audit", "The MCP server's own log of tool calls, one per line, oldest first.")
    .option("--tool <name>", "only calls of this tool")
    .action(({ tool }: { tool?: string }, self: Command) =>
      run(self, async (io) => (await import("./commands/audit.ts")).printAudit(io, { tool })),
    );

const AFTER = `
Results are JSON on standard output, everything else goes to standard error.
Exit status: 0 done, 1 refused or failed, 2 wrong usage or settings.
Settings come from the environment (RECEIVABLES_…); docs/settings.md lists them. Secrets are never arguments.`;

const listCommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(listCommands),
];

/** Creates the command line. Each command's code is loaded when it runs. */
export const createProgram = (run: Run, version: string): Command => {
  const program = new Command("receivables-mcp")
    .description("Accounts-receivable disputes: a REST platform and the MCP server over it.")
    .version(version)
    .addHelpText("after", AFTER);
  for (const command of [
    ...createServerCommands(run),
    ...createProfileCommands(run),
    createDoctorCommand(run),
    createSecretCommands(run),
    createAuditCommand(run),
    createAdminCommand(run),
    createImportCommand(run),
    createExportSpecCommand(run),
  ])
    program.addCommand(command);
  // Commands added with `addCommand` do not inherit settings.
  for (const command of listCommands(program)) {
    command.exitOverride().showHelpAfterError("Add --help for a list of commands and options.");
  }
  return program;
};
