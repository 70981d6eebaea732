import { Argument, type Command, Option } from "commander";
import { SOURCES } from "../../contract/payments/catalogue.ts";
import { FORMATS, isBankFormat, TABLE_FORMATS } from "../../platform/import/formats.ts";
import { type Kind, KINDS, SUGGEST_KINDS } from "../../platform/import/kinds.ts";
import type { Io } from "../commands/io.ts";
import type { ImportOptions, SuggestOptions } from "../commands/import-options.ts";
import { type Define, fromModule } from "./program-parts.ts";

const commands = fromModule(() => import("../commands/import.ts"));

type Asked = Kind | "tenant";
type Options = Omit<ImportOptions, "kind" | "file">;

const runImport = async (io: Io, kind: Asked, file: string, options: Options) =>
  kind === "tenant"
    ? (await import("../commands/accounts.ts")).runTenantImport(io, file)
    : (await import("../commands/import.ts")).importFile(io, { ...options, kind, file });

/** Returns the fault of a combination of options, if there is one. */
const findMisuse = (
  kind: Asked,
  { tenant, source, format }: Partial<Options>,
): string | undefined => {
  if (kind === "tenant") return undefined;
  if (tenant === undefined) return "required option '--tenant <id>' not specified";
  if ((kind === "payments") !== (source !== undefined)) {
    return kind === "payments"
      ? `payments are imported with --source: ${SOURCES.join(", ")}`
      : "--source is allowed for payments only";
  }
  if (format === undefined || !isBankFormat(format)) return undefined;
  return source === "cashapp"
    ? undefined
    : `${format} is a format for payments of the source cashapp`;
};

const runSuggest = async (
  io: Io,
  kind: Kind,
  file: string,
  options: Omit<SuggestOptions, "kind" | "file">,
) => (await import("../commands/suggest.ts")).suggestImport(io, { ...options, kind, file });

const createSuggestCommand = (define: Define): Command =>
  define(
    "suggest",
    "Propose a map for a table of unknown form, and show five rows as they would be read.",
    runSuggest,
  )
    .addArgument(new Argument("<kind>", "the kind of its rows").choices(SUGGEST_KINDS))
    .argument("<file>", "the file; - is standard input")
    .addOption(new Option("--format <format>", "default: by content").choices(TABLE_FORMATS))
    .addOption(new Option("--source <source>", "source of payments").choices(SOURCES))
    .option("--currency <code>", "the currency of a file that names none")
    .option("--output <file>", "write the map to this file, for --map");

const createFurtherCommands = (define: Define): Command[] => [
  createSuggestCommand(define),
  define(
    "list",
    "List a tenant's imports, one per line, the newest first.",
    commands("runImportList"),
  ).requiredOption("--tenant <id>", "the tenant"),
  define(
    "undo",
    "Take back what an import wrote; records that have changed since, or that others refer to, stay and are named.",
    commands("runImportUndo"),
  ).argument("<import-id>"),
];

export const createImportCommand = (define: Define): Command => {
  const command = define(
    "import",
    "Import a file; the rows it refuses are written to FILE.rejects.ndjson. Or restore a tenant: import tenant <folder>.",
    runImport,
  )
    .addArgument(new Argument("<kind>", "the kind of its rows").choices([...KINDS, "tenant"]))
    .argument("<file>", "the file, or - for standard input; the folder of an exported tenant")
    .option("--tenant <id>", "the tenant; required, except for the kind tenant")
    .addOption(new Option("--format <format>", "default: by the file's content").choices(FORMATS))
    .option(
      "--map <file>",
      "JSON that maps columns to fields; default: columns have the names of fields",
    )
    .option("--create-configuration", "create the categories and reasons that rows name")
    .option("--dry-run", "report what an import would do, and change nothing")
    .option("--verbose", "also list the entries that are left out")
    .addOption(new Option("--source <source>", "source of payments").choices(SOURCES))
    // Options after the name of a further command are those of that command.
    .enablePositionalOptions()
    .hook("preAction", (self, action) => {
      if (self !== action) return;
      const fault = findMisuse(self.processedArgs[0] as Asked, self.opts());
      if (fault !== undefined) self.error(`error: ${fault}`, { exitCode: 2 });
    });
  for (const one of createFurtherCommands(define)) command.addCommand(one);
  return command;
};
