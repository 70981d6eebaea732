import { Argument, type Command, Option } from "commander";
import { type Source, SOURCES } from "../contract/payments/catalogue.ts";
import { type Format, FORMATS, isBankFormat } from "../platform/import/formats.ts";
import { type ImportOptions, type Kind, KINDS } from "./import-options.ts";
import { createCommand, type Run } from "./program-parts.ts";

type Options = {
  tenant: string;
  format?: Format;
  map?: string;
  createConfiguration?: true;
  source?: Source;
};

/** Returns the fault of a combination of options, if there is one. */
const findMisuse = (kind: Kind, { source, format, map }: Options): string | undefined => {
  if ((kind === "payments") !== (source !== undefined)) {
    return kind === "payments"
      ? `payments are imported with --source: ${SOURCES.join(", ")}`
      : "--source is of payments alone";
  }
  if (format === undefined || !isBankFormat(format)) return undefined;
  if (source !== "cashapp") return `${format} is a format of payments of the source cashapp`;
  return map === undefined ? undefined : `${format} has no columns that a map could name`;
};

export const createImportCommand = (run: Run): Command =>
  createCommand("import", "Import a file; the rows it refuses are written to FILE.rejects.ndjson.")
    .addArgument(new Argument("<kind>", "what its rows are").choices(KINDS))
    .argument("<file>", "the file, or - for standard input")
    .requiredOption("--tenant <id>", "whose records they become")
    .addOption(
      new Option(
        "--format <format>",
        "by the file's name where it tells, else what the kind mostly has",
      ).choices(FORMATS),
    )
    .option("--map <file>", "JSON that says which column goes where; else columns bear the names")
    .option("--create-configuration", "create the categories and reasons that rows name")
    .addOption(new Option("--source <source>", "of payments").choices(SOURCES))
    .action((kind: Kind, file: string, options: Options, self: Command) => {
      const { tenant: tenantId, createConfiguration = false, format, map, source } = options;
      const fault = findMisuse(kind, options);
      if (fault !== undefined) self.error(`error: ${fault}`, { exitCode: 2 });
      const parsed: ImportOptions = {
        kind,
        file,
        tenantId,
        createConfiguration,
        ...(format === undefined ? {} : { format }),
        ...(map === undefined ? {} : { map }),
        ...(source === undefined ? {} : { source }),
      };
      return run(self, async (io) => (await import("./commands/import.ts")).importFile(io, parsed));
    });
