import { z } from "zod";
import { findRowSchema, type Operation, parsePathParameters } from "../../../contract/operation.ts";
import { type InsightTool, isInsightTool, type Tool } from "../../../../tools/tool.ts";
import { hasRowFields } from "../../results/rows.ts";
import { ABOUT } from "./about-schema.ts";
import { takesSave } from "./kinds.ts";
import {
  type JsonSchema,
  type ObjectSchema,
  type Raw,
  toRawSchema,
  typesOf,
  WITHHELD,
} from "./schemas.ts";

type Properties = Record<string, JsonSchema>;

const TEXT: JsonSchema = { type: "string" };
const FLAG: JsonSchema = { type: "boolean" };
const COUNT: JsonSchema = { type: "integer" };
const NULLABLE_TEXT: JsonSchema = { type: ["string", "null"] };

const toObject = (properties: Properties): ObjectSchema => ({ type: "object", properties });

/** Returns a field's type without its values, so that a future value of an enumeration is no error. */
const toField = (source: Raw): JsonSchema => {
  const [first = "string", ...others] = typesOf(source);
  const type = others.length === 0 ? first : [first, ...others];
  const list = [source, ...(source.anyOf ?? [])].find((one) => one.type === "array");
  if (list === undefined) return { type };
  const { type: itemType = "object" } = toField(list.items ?? { type: "object" });
  return { type, items: { type: itemType } };
};

/** Returns the top-level fields of a record with their types. */
const listFields = (schema: z.ZodType): Properties => {
  const { properties = {} } = toRawSchema(schema);
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, toField(field)]),
  );
};

const withoutNull = ({ type = "string", ...rest }: JsonSchema): JsonSchema => {
  const [first = "string", ...others] = [type].flat().filter((name) => name !== "null");
  return { type: others.length === 0 ? first : [first, ...others], ...rest };
};

const omit = (properties: Properties, names: readonly string[]): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));

/** Returns the schema of a list's rows. Rows that a tool cuts have no nulls. */
const toRows = (operation: Operation): JsonSchema => {
  const row = findRowSchema(operation.output);
  const fields = row === undefined ? {} : listFields(row);
  const shown = hasRowFields(operation)
    ? Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, withoutNull(field)]))
    : fields;
  return { type: "array", items: toObject(shown) };
};

const PAGINATION = toObject({ cursor: NULLABLE_TEXT, hasMore: FLAG, rowCount: COUNT });

/** The identifiers in the answer of an operation without a body. */
export const deletedKeys = (operation: Operation): string[] =>
  parsePathParameters(operation.path).filter((name) => name !== "tenantId");

const toPathFields = (operation: Operation): Properties =>
  Object.fromEntries(deletedKeys(operation).map((name) => [name, TEXT]));

const toList = (operation: Operation, fields: Properties): Properties => {
  const rows = toRows(operation);
  const page = { truncated: FLAG, nextCursor: NULLABLE_TEXT };
  switch (operation.list?.style) {
    case "array":
      return { count: COUNT, total: { type: ["integer", "null"] }, ...page, items: rows };
    case "applications":
      return { ...page, ...omit(fields, ["applications"]), applications: rows };
    case "attachments":
      return { ...page, ...fields };
    default:
      return {
        ...omit(fields, ["data", "pagination"]),
        truncated: FLAG,
        pagination: PAGINATION,
        data: rows,
      };
  }
};

/** Returns the figures of an insight, and the fields that its items may have. */
const toInsight = ({ insight }: InsightTool): Properties => ({
  asOf: TEXT,
  filter: { type: "object" },
  rowCount: COUNT,
  truncated: FLAG,
  itemsTotal: COUNT,
  itemsShown: COUNT,
  nextCursor: TEXT,
  currencyTotals: {
    type: "array",
    items: toObject({
      currencyCode: NULLABLE_TEXT,
      count: COUNT,
      amount: { type: ["number", "string"] },
    }),
  },
  ...(insight.figures === undefined ? {} : listFields(insight.figures)),
  notes: { type: "array", items: TEXT },
  items: { type: "array", items: toObject(listFields(insight.item)) },
});

/** The fields of an answer about a file beside the file's own. */
const FILE: Properties = {
  resourceUri: TEXT,
  pagesTotal: COUNT,
  truncated: FLAG,
  nextPages: TEXT,
  nextCursor: TEXT,
  withoutText: { type: "array", items: COUNT },
  pictures: { type: "array", items: COUNT },
  unreadable: TEXT,
  notes: { type: "array", items: TEXT },
  text: {
    type: "array",
    items: toObject({ page: COUNT, sheet: TEXT, part: TEXT, range: TEXT, text: TEXT }),
  },
};

/** Returns the schema of a tool's answer without what comes before its data. */
const dataSchema = (tool: Tool): ObjectSchema => {
  if (isInsightTool(tool)) return toObject(toInsight(tool));
  const { operation } = tool;
  const { output, returnsSecret } = operation;
  if (output === null) return toObject({ deleted: FLAG, ...toPathFields(operation) });
  if (operation.list !== null) {
    const fields = output instanceof z.ZodArray ? {} : listFields(output);
    return toObject(toList(operation, fields));
  }
  const fields = {
    ...omit(listFields(output), operation.session === null ? [] : WITHHELD),
    ...(operation.brief === null ? {} : listFields(operation.brief.fields)),
  };
  if (operation.file) return toObject({ ...toPathFields(operation), ...fields, ...FILE });
  if (tool.remarks !== undefined) {
    return toObject({ ...fields, notes: { type: "array", items: TEXT } });
  }
  if (returnsSecret === null) return toObject(fields);
  const { field, storedAs } = returnsSecret;
  return toObject({ ...omit(fields, [field]), [storedAs]: TEXT });
};

const SAVED: Properties = { saved: { type: "object" } };

/** Returns the schema of a tool's answer: every documented top-level field with its type, none of them required. */
export const outputSchema = (tool: Tool): ObjectSchema =>
  toObject({
    about: ABOUT,
    ...dataSchema(tool).properties,
    ...(takesSave(tool) ? SAVED : {}),
  });
