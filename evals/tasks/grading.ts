import type { ApiRecord, Outcome, State } from "../task.ts";

/** The faults of an outcome; empty if it is right. */
export type Reasons = string[];

/** Numbers and days of records, whose digits are no figures. */
const RECORD_NUMBERS =
  /\b(?:D-\d{1,9}-\d{1,4}|K-\d{1,9}|PO-[A-Z0-9-]{1,20}|C[PU]-\d{1,9}|\d{4}-\d\d-\d\d|6[19]\d{5})\b/g;
const FIGURE =
  /(?<![\d.,])(?:\d{1,3}(?:[ \u00A0\u202F,.']\d{3})+|\d{1,12})(?:[.,]\d{1,2})?(?![\d])/g;
/** Separators of thousands. */
const SPACES = /[ \u00A0\u202F']/g;

const parseFigure = (text: string): number => {
  const plain = text.replace(SPACES, "");
  const decimals = /[.,](\d{1,2})$/.exec(plain)?.[1] ?? "";
  const whole = decimals === "" ? plain : plain.slice(0, -decimals.length - 1);
  return Number(`${whole.replaceAll(/[.,]/g, "")}.${decimals === "" ? "0" : decimals}`);
};

/** Returns all figures of an answer in any usual spelling: 1,234.50, 1234.5, 1.234,50, 1 234,50. */
export const figures = (answer: string): number[] =>
  (answer.replaceAll(RECORD_NUMBERS, " ").match(FIGURE) ?? []).map(parseFigure);

/** Writes cents as an amount: 1,234.50. */
export const money = (cents: number): string =>
  (cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 });

/** Requires figures, and that none of those that a trap leads to is in the answer. */
export const expectFigures = (
  answer: string,
  right: readonly number[],
  traps: readonly number[] = [],
): Reasons => {
  const found = new Set(figures(answer));
  const lacking = right.filter((one) => !found.has(one));
  const contradicting = traps.filter((one) => found.has(one) && !right.includes(one));
  return [
    ...lacking.map((one) => `The answer lacks ${one}.`),
    ...contradicting.map((one) => `The answer has ${one}, which is not right.`),
  ];
};

/** Requires that the answer names exactly these records among those that look like them. */
export const expectRecords = (
  answer: string,
  like: RegExp,
  expected: readonly string[],
): Reasons => {
  const found = new Set(answer.match(like) ?? []);
  return [
    ...expected.filter((one) => !found.has(one)).map((one) => `The answer lacks ${one}.`),
    ...[...found].filter((one) => !expected.includes(one)).map((one) => `The answer names ${one}.`),
  ];
};

export const DISPUTE_CODE = /D-\d{7}-\d\d/g;
export const DOCUMENT_NUMBER = /(?<![\d-])6[19]\d{5}(?!\d)(?!-\d)/g;

/** Requires in the answer one of the spellings of each item. */
export const names = (answer: string, items: readonly (readonly string[])[]): Reasons => {
  const text = answer.toLowerCase();
  return items
    .filter((spellings) => !spellings.some((one) => text.includes(one.toLowerCase())))
    .map((spellings) => `The answer does not name ${spellings.join(" or ")}.`);
};

/** Requires that the answer has none of these texts. */
export const lacks = (answer: string, texts: readonly string[]): Reasons =>
  texts
    .filter((one) => answer.toLowerCase().includes(one.toLowerCase()))
    .map((one) => `The answer names ${one}.`);

/** The further fields of a dispute that change with a field. */
const ASPECTS: Readonly<Record<string, readonly string[]>> = {
  assigneeName: ["assigneeId", "departmentId", "departmentName", "userId"],
  reasonName: ["reasonId", "categoryId", "categoryName"],
  status: ["closedDate", "isValid", "resolutionId", "resolutionCode"],
};
const TRACKED = ["updateDate", "updateUser", "lastActivityDate"];

/** The changes that a task asks for: new values by dispute and field, and new notes. */
export type Changes = {
  disputes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  notes?: readonly {
    dispute: string;
    includes: readonly string[];
    visibility: "Internal" | "All";
  }[];
  /** A new dispute; its code is not known before. */
  opened?: Readonly<Record<string, unknown>>;
};

const differing = (one: ApiRecord, other: ApiRecord): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]),
  );

const TABLES = [
  "disputes",
  "notes",
  "attachments",
  "configuration",
  "accounts",
  "documents",
  "schedules",
] as const;

/** A record that is not as it was. */
type Difference = {
  table: keyof State;
  key: string;
  fields: string[];
  how: "new" | "gone" | "changed";
};

const compare = (before: State, after: State): Difference[] =>
  TABLES.flatMap((table) => {
    const keys = new Set([...before[table].keys(), ...after[table].keys()]);
    return [...keys].flatMap((key): Difference[] => {
      const [one, other] = [before[table].get(key), after[table].get(key)];
      if (one === undefined) return [{ table, key, fields: [], how: "new" }];
      if (other === undefined) return [{ table, key, fields: [], how: "gone" }];
      const fields = differing(one, other);
      return fields.length === 0 ? [] : [{ table, key, fields, how: "changed" }];
    });
  });

const describe = ({ table, key, fields, how }: Difference): string =>
  `Of ${table}, ${key} is ${how}${fields.length === 0 ? "" : `: ${fields.join(", ")}`}.`;

/** Requires that nothing changed. */
export const unchanged = ({ before, after }: Outcome): Reasons =>
  compare(before, after).map(describe);

const hasValues = (row: ApiRecord, values: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(values).every(([name, value]) => row[name] === value);

const isRequested = (
  { table, key, fields, how }: Difference,
  { disputes = {}, notes = [], opened }: Changes,
  after: State,
): boolean => {
  if (table === "notes" && how === "new") {
    const note = after.notes.get(key);
    return notes.some(({ dispute }) => dispute === note?.["disputeCode"]);
  }
  if (table !== "disputes") return false;
  if (how === "new")
    return opened !== undefined && hasValues(after.disputes.get(key) ?? {}, opened);
  if (how === "gone") return false;
  const noted = notes.some(({ dispute }) => dispute === key);
  const named = Object.keys(disputes[key] ?? {});
  if (named.length === 0 && !noted) return false;
  const allowed = new Set([
    ...TRACKED,
    ...(noted ? ["noteCount"] : []),
    ...named.flatMap((name) => [name, ...(ASPECTS[name] ?? [])]),
  ]);
  return fields.every((name) => allowed.has(name));
};

/** Requires the changes, each once, and that nothing else changed. */
export const expectChanges = ({ before, after }: Outcome, changes: Changes): Reasons => {
  const { disputes = {}, notes = [], opened } = changes;
  const differences = compare(before, after);
  const fresh = differences.filter(({ how }) => how === "new");
  const newNotes = fresh.flatMap(({ table, key }) =>
    table === "notes" ? [after.notes.get(key) ?? {}] : [],
  );
  return [
    ...Object.entries(disputes)
      .filter(([code, values]) => !hasValues(after.disputes.get(code) ?? {}, values))
      .map(([code, values]) => `${code} has not ${JSON.stringify(values)}.`),
    ...notes
      .filter(
        ({ dispute, includes, visibility }) =>
          newNotes.filter(
            (note) =>
              note["disputeCode"] === dispute &&
              note["visibility"] === visibility &&
              names(
                String(note["content"]),
                includes.map((one) => [one]),
              ).length === 0,
          ).length !== 1,
      )
      .map(({ dispute }) => `${dispute} has not the one new note.`),
    ...(newNotes.length > notes.length ? ["There are more new notes than the task asks for."] : []),
    ...(opened !== undefined && fresh.filter(({ table }) => table === "disputes").length !== 1
      ? ["Not exactly one dispute was opened."]
      : []),
    ...differences.filter((one) => !isRequested(one, changes, after)).map(describe),
  ];
};
