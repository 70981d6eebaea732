import { hasMoreCharacters } from "../../kit/text.ts";
import { SCHEME } from "./resource-uris.ts";

/** The pages of records: `/disputes/CODE`, `/accounts/NUMBER` and `/documents/NUMBER`. */

const KINDS = ["dispute", "account", "document"] as const;
export type RecordKind = (typeof KINDS)[number];

/** A record by the code or number that people use. */
export type RecordName = { kind: RecordKind; id: string };

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** A number has at most 128 characters, and the code of a dispute few more. */
const LONGEST_NAME = 200;

/** Returns the record whose page is at a path; undefined for other paths. A number may contain slashes. */
export const parseRecordPath = (path: string): RecordName | undefined => {
  const [, plural = "", ...parts] = path.split("/");
  const kind = KINDS.find((one) => `${one}s` === plural);
  const id = decode(parts.join("/"));
  const isName = id !== undefined && id.trim() !== "" && !hasMoreCharacters(id, LONGEST_NAME);
  return kind === undefined || !isName ? undefined : { kind, id };
};

/** Whether the page of the server answers a path: its own, those of its files and those of records. */
export const isSitePath = (path: string): boolean =>
  path === "/" || path.startsWith("/app/") || parseRecordPath(path) !== undefined;

/** Returns the path of a record's page below the address of the server. */
const toRecordPath = ({ kind, id }: RecordName): string => `${kind}s/${encodeURIComponent(id)}`;

/**
 * Returns the address of a record's page, for `about.links.page`; undefined where the server has no address that a
 * browser can open, as over stdio. The pages are beside the endpoint `mcpUrl`.
 */
export const toRecordPage = (
  mcpUrl: URL | undefined,
  record: RecordName | undefined,
): string | undefined =>
  mcpUrl === undefined || record === undefined || !/^https?:$/.test(mcpUrl.protocol)
    ? undefined
    : new URL(toRecordPath(record), mcpUrl).href;

/** Returns the `receivables://` address of a record. */
export const toRecordAddress = (record: RecordName): string => `${SCHEME}${toRecordPath(record)}`;

/** Returns the record at an address; undefined for other addresses, such as those of its files. */
export const parseRecordAddress = (address: string): RecordName | undefined => {
  const [kind = "", id = "", ...others] = address.replace(SCHEME, "/").slice(1).split("/");
  const isRecord = address.startsWith(SCHEME) && others.length === 0 && !id.includes("?");
  return isRecord ? parseRecordPath(`/${kind}/${id}`) : undefined;
};

type Fields = Readonly<Record<string, unknown>>;

/** The fields that name a record of each kind; a dispute names its document and account too. */
const NAMES: readonly (readonly [field: string, kind: RecordKind])[] = [
  ["disputeCode", "dispute"],
  ["documentNumber", "document"],
  ["accountNumber", "account"],
];

const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

/** Returns the record that a result is about: the result itself, or the only item of an insight. */
export const findRecordName = (structured: Fields): RecordName | undefined => {
  const { items } = structured;
  if (Array.isArray(items)) {
    const [only, ...others] = items as readonly unknown[];
    const { dispute, account } = toFields(only);
    return others.length > 0 ? undefined : findRecordName(toFields(dispute ?? account));
  }
  const found = NAMES.find(([field]) => typeof structured[field] === "string");
  return found && { kind: found[1], id: String(structured[found[0]]) };
};
