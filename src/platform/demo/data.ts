import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createDates } from "./dates.ts";

/** Reads the demo tenant's data; dates are relative to one timestamp. */
export type DemoData = {
  /** The records of demo/NAME.ndjson; members named `at`, `…_at` and `as_of` are in milliseconds. */
  records<T>(name: string): T[];
  json(name: string): unknown;
  /** The bytes of demo/files/NAME. */
  file(name: string): Buffer;
};

/** Beside the bundled program, or at the top of the repository. */
const FOLDER = new URL(
  import.meta.url.endsWith(".ts") ? "../../../demo/" : "./demo/",
  import.meta.url,
);

const NAMESPACE = "5c1f0d9e37a84b6f9d2e8a4471b06c35";

/** Returns the UUID of a name, the same in every demo tenant: a hash with its bits set as RFC 9562 asks of version 8. */
export const deriveId = (name: string): string =>
  hash("sha256", NAMESPACE + name).replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    "$1-$2-8$3-8$4-$5",
  );

/** A string that is `@first.last` names a user, one that is `#noun/key` any other record. */
const REFERENCE = /"([@#][^"\\]+)"/g;

const TIMESTAMP = /^at$|_at$|^as_of$/;

export type Row = Record<string, unknown>;

/** The first line of a file may contain members that its records share; demo/README.md explains them. */
type Header = { defaults?: Row; copies?: Record<string, string> };

const completeRecord = ({ defaults, copies = {} }: Header, given: Row): Row => {
  const record: Row = { ...defaults, ...given };
  for (const [name, source] of Object.entries(copies)) {
    if (record[name] === undefined) record[name] = record[source];
  }
  for (const [name, value] of Object.entries(record)) {
    if (TIMESTAMP.test(name) && typeof value === "string") record[name] = Date.parse(value);
  }
  return record;
};

export const openDemoData = (now: number): DemoData => {
  const resolveDates = createDates(now);
  const ids = new Map<string, string>();
  const resolveId = (_reference: string, name: string): string => {
    const id = ids.get(name) ?? deriveId(name);
    ids.set(name, id);
    return `"${id}"`;
  };
  const read = (name: string): string =>
    resolveDates(readFileSync(new URL(name, FOLDER), "utf8")).replace(REFERENCE, resolveId);
  return {
    records<T>(name: string) {
      const lines = read(`${name}.ndjson`).trimEnd().split("\n");
      const [first = {}, ...others] = lines.map((line) => JSON.parse(line) as Row);
      const isHeader = "defaults" in first || "copies" in first;
      const given = isHeader ? others : [first, ...others];
      return given.map((one) => completeRecord(isHeader ? first : {}, one) as T);
    },
    json: (name) => JSON.parse(read(`${name}.json`)) as unknown,
    // One character for each byte: other bytes and a PDF file's table of offsets stay as they are.
    file: (name) =>
      Buffer.from(resolveDates(readFileSync(new URL(`files/${name}`, FOLDER), "latin1")), "latin1"),
  };
};
