import { Argument, type Command, Option } from "commander";
import { SOURCES } from "../contract/payments/catalogue.ts";
import { FORMATS, isBankFormat } from "../platform/import/formats.ts";
import type { Io } from "./io.ts";
import {
  type ImportOptions,
  type Kind,
  KINDS,
  SUGGEST_KINDS,
  type SuggestKind,
  type SuggestOptions,
} from "./import-options.ts";
import type { Define } from "./program-parts.ts";

type Asked = Kind | "tenant";
type Options = Omit<ImportOptions, "kind" | "file">;

const runImport = async (io: Io, kind: Asked, file: string, options: Options) =>
  kind === "tenant"
    ? (await import("./commands/accounts.ts")).runTenantImport(io, file)
    : (await import("./commands/import.ts")).importFile(io, { ...options, kind, file });

/** Returns the fault of a combination of options, if there is one. */
const findMisuse = (
  kind: Asked,
  { tenant, source, format, map }: Partial<Options>,
): string | undefined => {
  if (kind === "tenant") return undefined;
  if (tenant === undefined) return "required option '--tenant <id>' not specified";
  if ((kind === "payments") !== (source !== undefined)) {
    return kind === "payments"
      ? `payments are imported with --source: ${SOURCES.join(", ")}`
      : "--source is allowed for payments only";
  }
  if (format === undefined || !isBankFormat(format)) return undefined;
  if (source !== "cashapp") return `${format} is a format for payments of the source cashapp`;
  return map === undefined ? undefined : `${format} has no columns to map`;
};

const runSuggest = async (
  io: Io,
  kind: SuggestKind,
  file: string,
  options: Omit<SuggestOptions, "kind" | "file">,
) => (await import("./commands/suggest.ts")).suggestImport(io, { ...options, kind, file });

const createSuggestCommand = (define: Define): Command =>
  define(
    "suggest",
    "Propose a map for a table of unknown form, and show five rows as they would be read.",
    runSuggest,
  )
    .addArgument(new Argument("<kind>", "the kind of its rows").choices(SUGGEST_KINDS))
    .argument("<file>", "the file")
    .addOption(new Option("--format <format>", "default: by content").choices(["csv", "xlsx"]))
    .addOption(new Option("--source <source>", "source of payments").choices(SOURCES))
    .option("--currency <code>", "the currency of a file that names none")
    .option("--output <file>", "write the map to this file, for --map");

export const createImportCommand = (define: Define): Command =>
  define(
    "import",
    "Import a file; the rows it refuses are written to FILE.rejects.ndjson. Or restore a tenant: import tenant <folder>.",
    runImport,
  )
    .addArgument(new Argument("<kind>", "the kind of its rows").choices([...KINDS, "tenant"]))
    .argument("<file>", "the file, or - for standard input; the folder of an exported tenant")
    .option("--tenant <id>", "the tenant; required, except for the kind tenant")
    .addOption(
      new Option(
        "--format <format>",
        "default: by the file's extension, else the usual one of the kind",
      ).choices(FORMATS),
    )
    .option(
      "--map <file>",
      "JSON that maps columns to fields; default: columns have the names of fields",
    )
    .option("--create-configuration", "create the categories and reasons that rows name")
    .addOption(new Option("--source <source>", "source of payments").choices(SOURCES))
    .addCommand(createSuggestCommand(define))
    .hook("preAction", (self, running) => {
      if (running !== self) return;
      const fault = findMisuse(self.processedArgs[0] as Asked, self.opts());
      if (fault !== undefined) self.error(`error: ${fault}`, { exitCode: 2 });
    });
