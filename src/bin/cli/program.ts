import { Command } from "commander";
import {
  createDefine,
  createGroup,
  type Define,
  fromModule,
  PERSON,
  parseHost,
  parsePort,
  REMOTE,
  type Run,
  SERVER,
} from "./program-parts.ts";
import { createAdminCommand } from "./program-admin.ts";
import { createImportCommand } from "./program-import.ts";
import { withoutMoreRoom } from "../commands/v8-flags.ts";

const stdio = fromModule(() => import("../commands/stdio.ts"));
const http = fromModule(() => withoutMoreRoom(() => import("../commands/http.ts")));
const platform = fromModule(() => withoutMoreRoom(() => import("../commands/platform.ts")));
const login = fromModule(() => import("../commands/login.ts"));
const logout = fromModule(() => import("../commands/logout.ts"));
const profiles = fromModule(() => import("../commands/profiles.ts"));
const doctor = fromModule(() => import("../commands/doctor.ts"));
const secrets = fromModule(() => import("../commands/secrets.ts"));
const audit = fromModule(() => import("../commands/audit.ts"));
const call = fromModule(() => withoutMoreRoom(() => import("../commands/call.ts")));
const evidence = fromModule(() => import("../commands/evidence.ts"));
const spec = fromModule(() => import("../commands/export-spec.ts"));

const HOST = ["--host <address>", "address to listen at", parseHost, "127.0.0.1"] as const;
const PORT = ["--port <number>", "port to listen at, 0 for a free one", parsePort] as const;

const ALLOW_HTTP = [
  "--allow-http",
  "send the password over plain http to another machine",
] as const;

const createServerCommands = (define: Define): Command[] => [
  define("stdio", "The MCP server over stdio; the default command.", stdio("serveStdio"), {
    settings: SERVER,
  }),
  define(
    "http",
    "Platform and MCP server in one process, over HTTP; MCP at /mcp.",
    http("serveHttp"),
    { settings: SERVER },
  )
    .option(...HOST)
    .option(...PORT, 8765),
  define("platform", "The REST platform only.", platform("servePlatform"))
    .option(...HOST)
    .option(...PORT, 8080),
];

const createProfileCommands = (define: Define): Command[] => [
  define(
    "login",
    "Sign in to a remote platform once, and store an API key for it as a profile.",
    login("login"),
    { settings: [...PERSON, ...REMOTE] },
  )
    .option("--keep-password", "store the password instead of creating an API key")
    .option(...ALLOW_HTTP),
  define("logout", "Revoke a profile's API key, and remove the profile.", logout("logout"), {
    settings: PERSON,
  }).option(...ALLOW_HTTP),
  define("profiles", "List the profiles, one per line, without secrets.", profiles("listProfiles")),
];

const createSecretCommands = (define: Define): Command =>
  createGroup("secrets", "Secrets that tools stored for a person, such as new API keys.", [
    define("list", "List their names, one per line.", secrets("listSecrets")),
    define("show", "Show one on a terminal, or write it to a file.", secrets("showSecret"))
      .argument("<name>")
      .option("--out <file>", "write it to a file that only you can read"),
    define("remove", "Remove one.", secrets("removeSecret")).argument("<name>"),
  ]);

const createExportSpecCommand = (define: Define): Command =>
  define("export-spec", "Print the OpenAPI 3.1 document of the REST platform.", spec("exportSpec"));

const createDoctorCommand = (define: Define): Command =>
  define(
    "doctor",
    "Check settings, addresses, credentials and rights, with a hint per fault.",
    doctor("runDoctor"),
    { settings: SERVER, acceptsUnknown: true },
  ).option("--json", "print JSON alone");

const createAuditCommand = (define: Define): Command =>
  define(
    "audit",
    "The MCP server's own log of tool calls, one per line, oldest first.",
    audit("printAudit"),
  ).option("--tool <name>", "only calls of this tool");

const createCallCommand = (define: Define): Command =>
  define(
    "call",
    "Call one tool with the configured profile; its JSON arguments come also from standard input.",
    call("callTool"),
    { settings: SERVER },
  )
    .argument("<tool>")
    .argument("[json]", "its arguments; - reads standard input")
    .option("--csv <file>", "save the whole result as CSV")
    .option("--xlsx <file>", "save the whole result as XLSX")
    .option("--yes", "confirm what the tool asks before a change");

const createEvidenceCommand = (define: Define): Command =>
  define(
    "verify-evidence",
    "Check a file of admin audit evidence, without the platform; exit status 1 if it was altered.",
    evidence("runVerifyEvidence"),
  )
    .argument("<file>")
    .requiredOption("--key <file>", "the public key, as admin audit key prints it, or PEM")
    .option(
      "--head <file...>",
      "compare with heads that you keep, as admin audit head prints them",
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
  const define = createDefine(run);
  const program = new Command("receivables-mcp")
    .description("Accounts-receivable disputes: a REST platform and the MCP server over it.")
    .version(version)
    // `import list --tenant` would lose its option to `import`, which has one of the same name.
    .enablePositionalOptions()
    .addHelpText("after", AFTER);
  for (const command of [
    ...createServerCommands(define),
    ...createProfileCommands(define),
    createDoctorCommand(define),
    createSecretCommands(define),
    createAuditCommand(define),
    createCallCommand(define),
    createEvidenceCommand(define),
    createAdminCommand(define),
    createImportCommand(define),
    createExportSpecCommand(define),
  ])
    program.addCommand(command);
  // Commands added with `addCommand` do not inherit settings.
  for (const command of listCommands(program)) {
    command.exitOverride().showHelpAfterError("Add --help for a list of commands and options.");
  }
  return program;
};
