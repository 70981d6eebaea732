import { BAI2_TYPES, createBai2Rules } from "../../src/platform/import/bank/bai2-types.ts";
import { CAMT_TYPES } from "../../src/platform/import/bank/camt-types.ts";
import { GVC_TYPES } from "../../src/platform/import/bank/gvc-types.ts";
import { MT940_TYPES } from "../../src/platform/import/bank/mt940-types.ts";
import type { RecordType } from "../../src/platform/import/bank/types.ts";
import { collectSourceFields } from "../../src/platform/import/payments/row.ts";
import { FORMATS, isTableFormat, nameFormat } from "../../src/platform/import/formats.ts";
import { getUsualFormat, KINDS, SUGGEST_KINDS } from "../../src/platform/import/kinds.ts";
import { SOURCES } from "../../src/contract/payments/catalogue.ts";
import { table } from "./sections.ts";

const code = (text: string): string => `\`${text}\``;

const listTypes = (types: readonly RecordType[]): string =>
  types.map(({ type, name }) => `${code(type)} ${name}`).join("; ");

const groupTypes = (types: readonly RecordType[]): [RecordType, RecordType[]][] =>
  [...Map.groupBy(types, ({ take, reason }) => `${take} ${reason}`).values()].flatMap(
    (group): [RecordType, RecordType[]][] => {
      const [first] = group;
      return first === undefined ? [] : [[first, group]];
    },
  );

const HEAD = ["", "because it is", "types"];

const showTaken = (take: boolean): string => (take ? "read" : "left out");

const toRows = (types: readonly RecordType[]): string[][] =>
  groupTypes(types).map(([{ take, reason }, group]) => [showTaken(take), reason, listTypes(group)]);

const FIRST_TYPE = 100;
const LAST_TYPE = 999;

/** Writes numbers as ranges. */
const listRanges = (numbers: readonly number[]): string => {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges
    .map(([from, to]) => (from === to ? code(`${from}`) : code(`${from}-${to}`)))
    .join(" ");
};

/** The types of BAI2 that the table does not name, by what the rules say of them. */
const listUnnamed = (): string[][] => {
  const find = createBai2Rules();
  const named = new Set(BAI2_TYPES.map(({ type }) => type));
  const numbers = Array.from({ length: LAST_TYPE - FIRST_TYPE + 1 }, (_, at) => FIRST_TYPE + at);
  const rest = numbers
    .filter((number) => !named.has(String(number)))
    .map((number) => ({ number, ...find(String(number)) }));
  return [
    ...Map.groupBy(rest, ({ take, reason, name }) => `${take} ${reason} ${name}`).values(),
  ].map((group) => {
    const [first] = group;
    const numbersOf = listRanges(group.map(({ number }) => number));
    const isTotal = first?.name === "Total";
    return [
      showTaken(first?.take === true),
      first?.reason ?? "",
      isTotal ? numbersOf : `${first?.name ?? ""}: ${numbersOf}`,
    ];
  });
};

const isGvc = ({ type }: RecordType): boolean => type.startsWith("GVC ");

const without = (types: readonly RecordType[]): RecordType[] => types.filter((one) => !isGvc(one));

export const bai2Table = (): string => table(HEAD, [...toRows(BAI2_TYPES), ...listUnnamed()]);

export const camtTable = (): string => table(HEAD, toRows(without(CAMT_TYPES)));

export const mt940Table = (): string => table(HEAD, toRows(without(MT940_TYPES)));

export const gvcTable = (): string => table(HEAD, toRows(GVC_TYPES));

/** The fields that tables of payments can have, by source, the required ones first. */
export const paymentFieldTable = (): string =>
  table(
    ["source", "required", "read besides"],
    SOURCES.map((source) => {
      const fields = [...collectSourceFields(source)];
      const groups = Map.groupBy(
        fields.filter(([, { required }]) => required !== undefined),
        ([, { required }]) => required,
      );
      const required = [...groups.values()].map((group) =>
        group.map(([name]) => code(name)).join(" or "),
      );
      const others = fields.filter(([, spec]) => spec.required === undefined);
      return [code(source), required.join(", "), others.map(([name]) => code(name)).join(", ")];
    }),
  );

/** The formats of files, by the values of `--format`. */
export const formatTable = (): string =>
  table(
    ["format", "file", "has"],
    FORMATS.map((format) => [
      code(format),
      nameFormat(format),
      isTableFormat(format) ? "rows of any kind" : "payments of the source cashapp",
    ]),
  );

/** The kinds of rows. */
export const kindTable = (): string =>
  table(
    [
      "kind",
      "format, unless the content or `--format` tells it",
      "`import suggest` proposes a map",
    ],
    KINDS.map((kind) => [
      code(kind),
      code(getUsualFormat(kind)),
      SUGGEST_KINDS.includes(kind) ? "yes" : "no",
    ]),
  );
