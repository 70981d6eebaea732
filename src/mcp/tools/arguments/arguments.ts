import { z } from "zod";
import type { Fault, Problem } from "../../../contract/errors.ts";
import { toFaults, formatFaults } from "../../../contract/faults.ts";
import type { CallArguments, ArgsOf, Operation } from "../../../contract/operation.ts";
import { parseStatusWord } from "../../../contract/fields.ts";
import { lowerId } from "../../../kit/ids.ts";
import { isRecord, MAX_NUMBER_LENGTH, omitUndefined, parseSent } from "../../../kit/json.ts";
import { isOperationTool, type OperationTool, type Tool } from "../../../../tools/tool.ts";
import { isCreating, mayAsk, takesFields, takesSave } from "../listing/kinds.ts";
import { badArguments } from "../../results/refusal.ts";
import { SaveArguments, type SaveOptions, toSaveOptions } from "./save-options.ts";
import { type PageRange, parsePages } from "./pages.ts";
import { clearFields, withoutRefusedNulls } from "./nulls.ts";
import { findUnknownFields } from "../../results/rows.ts";
import {
  acceptedSchema,
  isStatus,
  type JsonSchema,
  ownShape,
  WITHHELD,
} from "../listing/schemas.ts";
import { findSpelling } from "../../../kit/spelling.ts";
import { respellNames, respellPayments, respellWords } from "./spelling.ts";
import { createUnknownFault, describeInstead } from "./unknown-names.ts";

const DATA_ADDRESS = /^data:[^,]{0,255};base64,/i;

const BLANK = 0x20;
const PLAIN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte);
  if ("\t\r\n".includes(letter)) return BLANK;
  return { "-": "+", _: "/" }[letter]?.charCodeAt(0) ?? byte;
});

/**
 * Returns Base64 in its plain form: without the line ends of MIME (RFC 2045), the beginning of a `data:` address, or the
 * URL alphabet (RFC 4648, section 5), and with its padding. Other text stays other text. Patterns take a third of a
 * second for megabytes of characters to replace.
 */
const normalizeBase64 = (text: string): string => {
  const bytes = Buffer.from(text.trimStart().replace(DATA_ADDRESS, ""), "utf8");
  let size = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = PLAIN_BYTES[bytes[at] ?? 0] ?? 0;
    if (byte === BLANK) continue;
    bytes[size] = byte;
    size += 1;
  }
  const plain = bytes.toString("utf8", 0, size);
  return plain.includes("=") || plain.length % 4 < 2
    ? plain
    : plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
};

/** The arguments of a call: those of the operation, and those that the server adds. */
export type Given<O extends Operation = Operation> = {
  operation: O;
  args: ArgsOf<O>;
  cursor: string | undefined;
  /** The fields of the rows in the answer. */
  fields: string[] | undefined;
  idempotencyKey: string | undefined;
  ifMatch: string | undefined;
  confirmationToken: string | undefined;
  /** The form and pages in which a file is read. */
  file?: { as: "text" | "file"; pages?: PageRange | undefined };
  /** The form in which the whole list is saved. */
  save?: SaveOptions | undefined;
};

/** Whether arguments were read for the operation, so that they are its own. */
export const isGivenFor = <O extends Operation>(given: Given, operation: O): given is Given<O> =>
  given.operation === operation;

const MAX_NAME = 60;
const printable = (name: string): string => name.slice(0, MAX_NAME).replace(/[^\w.[\]-]/g, "?");

const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
};

const fits = (value: unknown, types: string[]): boolean =>
  types.includes(typeOf(value)) || (types.includes("integer") && typeof value === "number");

/** Returns the value of JSON text, and other text as it is. */
export const parseText = (text: string): unknown => {
  const value = parseSent(text);
  return value === undefined ? text : value;
};

const isNumber = ({ type }: JsonSchema): boolean =>
  [type].flat().some((one) => one === "number" || one === "integer");

const NUMERIC = /^-?\d{1,15}(?:\.\d{1,15})?$/;

const NUMBER_TEXT = /^\s*-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*$/;

/** JSON text of each type, or its beginning. Parsing other text takes long, because it ends in an exception. */
const JSON_TEXTS: Readonly<Record<string, RegExp>> = {
  array: /^\s*\[/,
  object: /^\s*\{/,
  number: NUMBER_TEXT,
  integer: NUMBER_TEXT,
  boolean: /^\s*(?:true|false)\s*$/,
  null: /^\s*null\s*$/,
};

/** Whether a text may be JSON of one of the types. Numbers and words are short. */
const isJsonOf = (types: readonly string[], text: string): boolean =>
  types.some((type) => {
    const isNested = type === "array" || type === "object";
    return (isNested || text.length <= MAX_NUMBER_LENGTH) && JSON_TEXTS[type]?.test(text) === true;
  });

/** Counts the texts of a call that are no JSON: each costs an exception, and a list may have thousands. */
type Parsing = { broken: number };
const MAX_BROKEN = 100;

/** Arguments with names of fields and other words without commas. */
const WORD_LISTS: readonly string[] = ["fields", "clear", "groupBy", "measures"];

/** Returns the words of a list that a host sends as one text, such as `amount,currencyCode`. */
const splitWords = (value: unknown, { type, items }: JsonSchema, path: string): unknown =>
  typeof value === "string" &&
  [type].flat().includes("array") &&
  !JSON_TEXTS["array"]?.test(value) &&
  (items?.enum !== undefined || WORD_LISTS.includes(path))
    ? value.split(",").map((word) => word.trim())
    : value;

/** Parses JSON strings and wraps single items: many hosts send objects, lists and numbers as text. */
const unwrapped = (value: unknown, schema: JsonSchema, parsing: Parsing): unknown => {
  const types = [schema.type ?? []].flat();
  if (fits(value, types)) return value;
  if (typeof value === "string" && parsing.broken < MAX_BROKEN && isJsonOf(types, value)) {
    const inner = parseText(value);
    if (fits(inner, types)) return inner;
    parsing.broken += 1;
    const trimmed = value.trim();
    if (isNumber(schema) && NUMERIC.test(trimmed)) return Number(trimmed);
  }
  return types.includes("array") && !isRecord(value) && value !== null ? [value] : value;
};

/** Reads a text in the forms that hosts write it in: Base64 with line ends, UUIDs in capitals. */
const readText = (name: string, text: string): string =>
  name === "base64" ? normalizeBase64(text) : lowerId(name, text);

const NUMBER: JsonSchema = { type: "integer" };

type Unknown = { path: string; name: string; known: string[] };
type OnUnknown = (unknown: Unknown) => void;
type Conversion = {
  parsing: Parsing;
  onUnknown: OnUnknown;
  onTwice: (fault: Fault) => void;
  /** The arguments of an operation, for whom the words of a status become numbers; undefined for an insight. */
  own: Readonly<Record<string, z.ZodType>> | undefined;
};

/** Returns the word of an enumeration that a text differs from in letter case and separators alone. */
const findWord = (text: string, { enum: words }: JsonSchema): string => {
  const known = words?.filter((word) => typeof word === "string") ?? [];
  return findSpelling(text, known);
};

/**
 * Converts a value to the form of its schema, and reports the names that the schema does not have. The arguments
 * themselves, whose path is empty, have their known names already.
 */
const convert = (
  value: unknown,
  schema: JsonSchema,
  path: string,
  options: Conversion,
): unknown => {
  if (options.own !== undefined && isStatus(schema))
    return parseStatusWord(unwrapped(value, NUMBER, options.parsing));
  const inner = unwrapped(splitWords(value, schema, path), schema, options.parsing);
  const { items, properties } = schema;
  if (Array.isArray(inner) && items !== undefined) {
    return inner.map((item, index) => convert(item, items, `${path}[${index}]`, options));
  }
  if (typeof inner === "string") return findWord(inner, schema);
  if (!isRecord(inner) || properties === undefined) return inner;
  const isOpen = path !== "" && schema.additionalProperties !== false;
  const { onTwice } = options;
  const respelt =
    isOpen || path === "" ? inner : respellNames(inner, Object.keys(properties), { path, onTwice });
  return Object.fromEntries(
    Object.entries(respelt).map(([name, child]) => {
      const field = path === "" ? printable(name) : `${path}.${printable(name)}`;
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (isOpen) return [name, child];
      if (known !== undefined) {
        const value = typeof child === "string" ? readText(name, child) : child;
        const converted = convert(value, known, field, options);
        return [name, path === "" ? respellWords(converted, options.own?.[name]) : converted];
      }
      options.onUnknown({ path: field, name, known: Object.keys(properties) });
      return [name, child];
    }),
  );
};

// Each costs a search for similar names.
const MAX_UNKNOWN = 20;

const findArgument = (tool: Tool, name: string): z.ZodType | undefined => {
  const shape = isOperationTool(tool)
    ? formOf(tool).own.shape
    : (tool.insight.input.shape as Record<string, z.ZodType>);
  return Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined;
};

/** Returns arguments without those that are null, where null is no value of its own and the argument is optional. */
const withoutNulls = (tool: Tool, sent: CallArguments, schema: JsonSchema): CallArguments => {
  if (!Object.values(sent).includes(null)) return sent;
  const isLeftOut = ([name, value]: [string, unknown]): boolean =>
    value === null &&
    Object.hasOwn(schema.properties ?? {}, name) &&
    schema.required?.includes(name) !== true &&
    findArgument(tool, name)?.safeParse(null).success !== true;
  return Object.fromEntries(Object.entries(sent).filter((entry) => !isLeftOut(entry)));
};

/** Returns arguments without the JSON strings that hosts wrap values in, and a fault for each unknown name. */
export const unwrapArguments = (
  tool: Tool,
  sent: CallArguments,
  schema: JsonSchema,
): { values: CallArguments; unknown: Fault[] } => {
  const unknown: Fault[] = [];
  const onUnknown: OnUnknown = (found) => {
    if (unknown.length < MAX_UNKNOWN) unknown.push(createUnknownFault(tool, found));
  };
  const onTwice = (fault: Fault): void => {
    if (unknown.length < MAX_UNKNOWN) unknown.push(fault);
  };
  const known = Object.keys(schema.properties ?? {});
  const respelt = respellNames(sent, known, { path: "", onTwice });
  const values = convert(withoutNulls(tool, respelt, schema), schema, "", {
    parsing: { broken: 0 },
    onUnknown,
    onTwice,
    own: isOperationTool(tool) ? formOf(tool).own.shape : undefined,
  }) as CallArguments;
  return { values: respellPayments(values, onTwice), unknown };
};

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;
const PRINTABLE_RULE = "must have 1 to 255 printable ASCII characters";

const MAX_FIELDS = 200;
/** A token names the versions and ids of up to 50 records. */
const MAX_TOKEN = 32_768;

const Steering = SaveArguments.extend({
  cursor: z.string().min(1).max(8192).optional(),
  fields: z.array(z.string()).max(MAX_FIELDS).optional(),
  clear: z.array(z.string()).max(MAX_FIELDS).optional(),
  idempotencyKey: z.string().regex(PRINTABLE, PRINTABLE_RULE).optional(),
  ifMatch: z.string().regex(PRINTABLE, PRINTABLE_RULE).optional(),
  confirmationToken: z.string().min(1).max(MAX_TOKEN).optional(),
  as: z.enum(["text", "file"]).optional(),
  pages: z
    .union([z.string(), z.int()])
    .transform((pages, context) => {
      const range = parsePages(String(pages));
      if (range !== undefined) return range;
      context.addIssue({ code: "custom", message: "must be pages such as 1-3", input: pages });
      return z.NEVER;
    })
    .optional(),
});

const steeringNames = (tool: OperationTool, listed: CallArguments): string[] =>
  Object.keys(Steering.shape).filter((name) => {
    if (name === "cursor") return name in listed;
    if (name === "fields") return takesFields(tool);
    if (name === "clear") return tool.operation.clears;
    if (name === "as" || name === "pages") return tool.operation.file;
    if (name === "save" || name === "about") return takesSave(tool);
    if (name === "idempotencyKey") return isCreating(tool.operation);
    return name === "ifMatch" ? tool.operation.updates : mayAsk(tool);
  });

// The message of a fault distinguishes a missing value from a wrong one by its input.
const REPORT = { reportInput: true };

const pick = (values: CallArguments, names: readonly string[]): CallArguments =>
  Object.fromEntries(names.flatMap((name) => (name in values ? [[name, values[name]]] : [])));

const namesOf = (part: z.ZodObject | null): string[] =>
  Object.keys(part?.shape ?? {}).filter((name) => !(WITHHELD as readonly string[]).includes(name));

/** The schemas of a tool's arguments. They are created at its first call, because that costs more than their use. */
type Form = { schema: JsonSchema; steering: string[]; own: z.ZodObject; ownNames: string[] };

const forms = new WeakMap<OperationTool, Form>();

const newForm = (tool: OperationTool): Form => {
  const schema = acceptedSchema(tool);
  const own = ownShape(tool.operation);
  const steering = steeringNames(tool, schema.properties ?? {});
  return { schema, steering, own: z.object(own), ownNames: Object.keys(own) };
};

const formOf = (tool: OperationTool): Form => {
  const form = forms.get(tool) ?? newForm(tool);
  forms.set(tool, form);
  return form;
};

/** Validates the arguments of the operation and returns them in the platform's form. */
const checked = (
  tool: OperationTool,
  values: CallArguments,
): { args: CallArguments; wrong: Fault[] } => {
  const { operation } = tool;
  const { own, ownNames } = formOf(tool);
  const given = withoutRefusedNulls(own, values);
  const flat = own.safeParse(given, REPORT);
  const wrong = flat.success ? [] : toFaults(flat.error);
  if (operation.effect === "session" || wrong.length > 0) return { args: {}, wrong };
  const bodyNames = namesOf(operation.body);
  const body = operation.body?.safeParse(pick(given, bodyNames), REPORT);
  if (body !== undefined && !body.success) return { args: {}, wrong: toFaults(body.error) };
  const rest = ownNames.filter((name) => !bodyNames.includes(name));
  // A null that means absent has become undefined: it is no change that a question would name.
  return { args: { ...pick(given, rest), ...omitUndefined(body?.data ?? {}) }, wrong };
};

export const refuseArguments = (tool: Pick<OperationTool, "name">, list: Fault[]): Problem =>
  badArguments(
    `${tool.name}: ${formatFaults(list).replaceAll("?.", "?").replaceAll("?;", "?")}`,
    list,
  );

const findFieldFaults = ({ operation }: OperationTool, fields: readonly string[] = []): Fault[] => {
  const known = operation.list?.fieldsOf({}) ?? [];
  return findUnknownFields(operation, fields)
    .slice(0, MAX_UNKNOWN)
    .map((name) => ({
      field: `fields[${fields.indexOf(name)}]`,
      code: "unknown",
      message: `${JSON.stringify(printable(name))} is not a field${describeInstead(name, known)}`,
    }));
};

/** Returns the arguments of the server with the known spellings of the fields of rows. */
const respellFieldNames = (
  { operation }: OperationTool,
  steering: CallArguments,
): CallArguments => {
  const { fields } = steering;
  if (!Array.isArray(fields)) return steering;
  const known = operation.list?.fieldsOf({}) ?? [];
  const respelt = fields.map((name) =>
    typeof name === "string" ? findSpelling(name, known) : name,
  );
  return { ...steering, fields: respelt };
};

/**
 * Returns the arguments of a tool call in the form that the operation takes.
 *
 * @throws {Problem} invalid_request, which names every fault
 */
export const readArguments = (tool: OperationTool, sent: CallArguments): Given => {
  const { schema, steering: names, own, ownNames } = formOf(tool);
  const { values, unknown } = unwrapArguments(tool, sent, schema);
  const steering = pick(values, names);
  const steered = Steering.safeParse(respellFieldNames(tool, steering), REPORT);
  // The cursor of the audit log is the server's; the platform's cursor is inside it.
  const rest = ownNames.filter((name) => !(name in steering));
  const { clear = [] } = steered.data ?? {};
  const cleared = clearFields(pick(values, rest), clear, own.shape);
  const { args, wrong } = checked(tool, cleared.values);
  const inFields = [...findFieldFaults(tool, steered.data?.fields), ...cleared.wrong];
  const all = [...unknown, ...(steered.success ? inFields : toFaults(steered.error)), ...wrong];
  if (all.length > 0 || !steered.success) throw refuseArguments(tool, all);
  const { cursor, fields, idempotencyKey, ifMatch, confirmationToken, as, pages } = steered.data;
  return {
    operation: tool.operation,
    args,
    cursor,
    fields,
    idempotencyKey,
    ifMatch,
    confirmationToken,
    ...(tool.operation.file ? { file: { as: as ?? "text", pages } } : {}),
    save: toSaveOptions(steered.data),
  };
};
