import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fold } from "../store/fold.ts";
import { createDates } from "./dates.ts";

/** Reads the demo tenant's data; dates are relative to one timestamp. */
export type DemoData = {
  /** The records of demo/NAME.ndjson; members named `…_at` are in milliseconds. */
  records<T>(name: string): T[];
  json(name: string): unknown;
  /** The bytes of demo/files/NAME. */
  file(name: string): Buffer;
};

/** Beside the bundled program, or at the top of the repository. */
const FOLDER = [join(import.meta.dirname, "demo"), join(import.meta.dirname, "../../../demo")].find(
  (folder) => existsSync(join(folder, "users.ndjson")),
);

const NAMESPACE = "5c1f0d9e37a84b6f9d2e8a4471b06c35";

/** Returns the UUID of a name, the same in every demo tenant: a hash with its bits set as RFC 9562 asks of version 8. */
export const deriveId = (name: string): string => {
  const hex = hash("sha256", NAMESPACE + name);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return `${parts.join("-")}-${hex.slice(20, 32)}`;
};

/** A string that is `@first.last` names a user, one that is `#noun/key` any other record. */
const REFERENCE = /"([@#][^"\\]+)"/g;

const isTimestamp = (name: string): boolean => name.endsWith("_at") || name === "as_of";

export type Row = Record<string, unknown>;

/** The first line of a file may contain members that its records share; demo/README.md explains them. */
type Header = {
  defaults?: Row;
  copies?: Record<string, string>;
  folded?: Record<string, string[]>;
};

const isHeader = (line: Row | undefined): line is Row & Header =>
  line !== undefined && ("defaults" in line || "copies" in line);

const completeRecord = ({ defaults, copies = {}, folded = {} }: Header, given: Row): Row => {
  const record: Row = { ...defaults, ...given };
  for (const [name, source] of Object.entries(copies)) {
    if (record[name] === undefined) record[name] = record[source];
  }
  for (const [name, sources] of Object.entries(folded)) {
    record[name] = fold(sources.map((source) => String(record[source])).join(" "));
  }
  for (const name of Object.keys(record)) {
    if (isTimestamp(name) && typeof record[name] === "string") {
      record[name] = Date.parse(record[name]);
    }
  }
  return record;
};

const TEXT_FILES = new Set([".pdf", ".eml"]);

export const openDemoData = (now: number): DemoData => {
  if (FOLDER === undefined) {
    throw new Error(
      "The demo tenant's data is missing: the folder demo/ is not beside the program.",
    );
  }
  const resolveDates = createDates(now);
  const ids = new Map<string, string>();
  const read = (name: string): string =>
    resolveDates(readFileSync(join(FOLDER, name), "utf8")).replace(
      REFERENCE,
      (_all, named: string) => {
        const id = ids.get(named) ?? deriveId(named);
        ids.set(named, id);
        return `"${id}"`;
      },
    );
  return {
    records<T>(name: string) {
      const lines = read(`${name}.ndjson`)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Row);
      const header = isHeader(lines[0]) ? lines.shift() : undefined;
      return lines.map((line) => completeRecord(header ?? {}, line) as T);
    },
    json: (name) => JSON.parse(read(`${name}.json`)) as unknown,
    file(name) {
      const bytes = readFileSync(join(FOLDER, "files", name));
      // One byte for each character: a PDF file's table of offsets stays right.
      return TEXT_FILES.has(extname(name))
        ? Buffer.from(resolveDates(bytes.toString("latin1")), "latin1")
        : bytes;
    },
  };
};
