import { Argument, type Command, Option } from "commander";
import { type Source, SOURCES } from "../contract/payments/catalogue.ts";
import { type Format, FORMATS, isBankFormat } from "../platform/import/formats.ts";
import { type ImportOptions, type Kind, KINDS } from "./import-options.ts";
import { createCommand, type Run } from "./program-parts.ts";

type Options = {
  tenant?: string;
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
      : "--source is allowed for payments only";
  }
  if (format === undefined || !isBankFormat(format)) return undefined;
  if (source !== "cashapp") return `${format} is a format for payments of the source cashapp`;
  return map === undefined ? undefined : `${format} has no columns to map`;
};

export const createImportCommand = (run: Run): Command =>
  createCommand(
    "import",
    "Import a file; the rows it refuses are written to FILE.rejects.ndjson. Or restore a tenant: import tenant <folder>.",
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
    .action((kind: Kind | "tenant", file: string, options: Options, self: Command) => {
      if (kind === "tenant") {
        return run(self, async (io) =>
          (await import("./commands/accounts.ts")).runTenantImport(io, file),
        );
      }
      const { tenant: tenantId, createConfiguration = false, format, map, source } = options;
      if (tenantId === undefined) {
        return self.error("error: required option '--tenant <id>' not specified", { exitCode: 2 });
      }
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
