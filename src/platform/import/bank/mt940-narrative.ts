import { listGvc } from "./gvc-types.ts";

/** The parts of field :86:. */
export type Narrative = {
  /** Transaction code of German banks, or "". */
  gvc: string;
  name: string;
  account: string;
  /** Reason of a return, as code or text; undefined if it is none. */
  returned: string | undefined;
  purpose: string;
  /** References by their codes, those that the payer gave first. */
  references: ReadonlyMap<string, string>;
  /** Creditor reference in a part of its own, or "". */
  creditorReference: string;
  originalAmount: string;
  charges: string;
  texts: readonly string[];
};

/**
 * Joins lines that were wrapped at a width: a full line continues in the next one, unless that one begins with a code.
 */
const unwrap = (lines: readonly string[], width: number, code?: RegExp): string => {
  let text = "";
  let isFull = true;
  for (const line of lines) {
    text += isFull && code?.test(line) !== true ? line : ` ${line}`;
    isFull = line.length >= width;
  }
  return text.trim();
};

// SEPA parts inside of the remittance subfields of German banks, for instance EREF+ and SVWZ+.
const SEPA_PART =
  /\b(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|PURP|COAM|OAMT|IBAN|BIC|RREF|RCMT|ANAM)[+:]/g;
const SEPA_START =
  /^(?:EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|PURP|COAM|OAMT|IBAN|BIC|RREF|RCMT|ANAM)[+:]/;
const REFERENCES = ["EREF", "KREF", "RREF", "PREF", "TRCD", "INST", "MREF", "MARF"];
const CREDITOR_REFERENCE = /^RF\d{2}[A-Z0-9]{1,21}$/;

/** Splits a text at codes; the text before the first one has the code "". */
const splitCodes = (text: string, pattern: RegExp): [code: string, value: string][] => {
  const parts: [string, string][] = [];
  let code = "";
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push([code, text.slice(from, match.index)]);
    code = match[1] ?? "";
    from = match.index + match[0].length;
  }
  parts.push([code, text.slice(from)]);
  return parts;
};

const collect = (parts: readonly [string, string][]): Map<string, string> => {
  const values = new Map<string, string>();
  for (const [code, value] of parts) {
    const text = value.trim();
    if (text !== "" && !values.has(code)) values.set(code, text);
  }
  return values;
};

const pickReferences = (values: ReadonlyMap<string, string>): Map<string, string> =>
  new Map(
    REFERENCES.flatMap((code) => {
      const value = values.get(code);
      return value === undefined ? [] : [[code, value] as const];
    }),
  );

const ACCOUNTS: ReadonlySet<string> = new Set(["IBAN", "ACCT", "BIC", "CNTP"]);

/** Writes the parts as text without account numbers, of which only the last four characters are stored. */
const omitAccounts = (parts: readonly [string, string][], separator: string): string =>
  parts
    .filter(([code, value]) => !ACCOUNTS.has(code) && /[^\s/]/.test(value))
    .map(([code, value]) => (code === "" ? value.trim() : `${code}${separator}${value.trim()}`))
    .join(" ");

const GERMAN = /^(\d{3})([^A-Za-z0-9\s,.;/+-])(?=\d{2})/;

/**
 * Reads the structure of German banks: a GVC, then subfields: 00 booking text, 20 to 29 and 60 to 63 remittance, 30 and
 * 31 bank and account, 32 and 33 name, 34 text key. The remittance has lines of 27 characters.
 */
const readGerman = (text: string, gvc: string, separator: string): Narrative => {
  const subfields = new Map<string, string[]>();
  for (const part of text.split(separator).slice(1)) {
    const code = part.slice(0, 2);
    subfields.set(code, [...(subfields.get(code) ?? []), part.slice(2)]);
  }
  const all = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, place) => String(from + place)).flatMap(
      (code) => subfields.get(code) ?? [],
    );
  const booking = unwrap(subfields.get("00") ?? [], Infinity);
  const lines = [...all(20, 29), ...all(60, 63)];
  const remittance = unwrap(lines, 27, SEPA_START);
  const parts = splitCodes(remittance, SEPA_PART);
  const values = collect(parts);
  const purpose = values.get("SVWZ") ?? values.get("") ?? "";
  const reference = purpose.replaceAll(" ", "");
  const isReturn = ["108", "109", "111"].includes(gvc);
  return {
    gvc,
    name: unwrap(all(32, 33), 27).replaceAll(/ {2,}/g, " ") || (values.get("ABWA") ?? ""),
    account: subfields.get("31")?.join("") || (values.get("IBAN") ?? ""),
    returned: isReturn ? [gvc, booking, purpose].filter((one) => one !== "").join(" ") : undefined,
    purpose: values.get("PURP") ?? "",
    references: pickReferences(values),
    creditorReference: CREDITOR_REFERENCE.test(reference) ? reference : "",
    originalAmount: values.get("OAMT") ?? "",
    charges: values.get("COAM") ?? "",
    texts: [booking, omitAccounts(parts, "+")],
  };
};

// Codes of :86: as SWIFT and banks outside of Germany use them.
const SLASH_CODE =
  /\/(EREF|PREF|KREF|RREF|INST|TRCD|MARF|CSID|NAME|REMI|IBAN|ACCT|BIC|ADDR|CNTP|ORDP|BENM|ULTD|ULTC|ID|PURP|RTRN|TRTP|TYPE|SVCL|ISDT|OCMT|CHGS|EXCH|BUSP|OAMT|OPRF|USTD|STRD|CUR)(?=\/)/g;

/** Removes slashes and spaces around a value. */
const trimSlashes = (value: string): string => {
  let [from, to] = [0, value.length];
  while (from < to && " /".includes(value.charAt(from))) from += 1;
  while (to > from && " /".includes(value.charAt(to - 1))) to -= 1;
  return value.slice(from, to);
};

const readSlashes = (text: string): Narrative => {
  const split = splitCodes(text.replaceAll("//", "/ /"), SLASH_CODE);
  const parts = split.map(([code, value]): [string, string] => [code, trimSlashes(value)]);
  const values = collect(parts);
  const [account = "", , name = ""] = (values.get("CNTP") ?? "")
    .split("/")
    .map((one) => one.trim());
  const structured = values.get("CUR") ?? "";
  return {
    gvc: "",
    name: values.get("NAME") ?? name,
    account: values.get("IBAN") ?? values.get("ACCT") ?? account,
    returned: values.get("RTRN"),
    purpose: (values.get("PURP") ?? "").replace(/^CD\//, ""),
    references: pickReferences(values),
    creditorReference: values.has("STRD") || values.has("CUR") ? structured : "",
    originalAmount: values.get("OCMT") ?? "",
    charges: values.get("CHGS") ?? "",
    texts: [omitAccounts(parts, " ").replaceAll("/ /", "//")],
  };
};

const SLASHED = /^\/[A-Z]{2,4}[0-9]?\//;

/** Reads field :86: in one of its structures, or as plain text. */
export const readNarrative = (lines: readonly string[]): Narrative => {
  const joined = lines.join("");
  const [, gvc = "", separator = ""] = GERMAN.exec(joined) ?? [];
  if (separator !== "") return readGerman(joined, gvc, separator);
  const text = unwrap(lines, 65);
  if (SLASHED.test(text) || SLASHED.test(text.slice(3))) return readSlashes(text);
  const [, plain = ""] = /^(\d{3})(?: |$)/.exec(text) ?? [];
  return {
    gvc: listGvc(plain).length > 0 ? plain : "",
    name: "",
    account: "",
    returned: undefined,
    purpose: "",
    creditorReference: "",
    originalAmount: "",
    charges: "",
    references: new Map(),
    texts: [text],
  };
};
