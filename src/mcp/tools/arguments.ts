import { z } from "zod";
import type { Fault, Problem } from "../../contract/errors.ts";
import { toFaults, formatFaults } from "../../contract/faults.ts";
import type { OperationTool } from "../../../tools/tool.ts";
import { isCreating, isUpdate, mayAsk } from "./kinds.ts";
import { findNearest } from "../../kit/nearest.ts";
import { badArguments } from "../results/refusal.ts";
import { inputSchema, type JsonSchema, ownShape, WITHHELD } from "./schemas.ts";

type Values = Record<string, unknown>;

/** A tool's arguments, checked, apart from what steers the call. */
export type Given = {
  args: Values;
  cursor: string | undefined;
  idempotencyKey: string | undefined;
  ifMatch: string | undefined;
  confirmationToken: string | undefined;
};

const MAX_NAME = 60;
const shown = (name: string): string => name.replace(/[^\w.[\]-]/g, "?").slice(0, MAX_NAME);

const isRecord = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
};

const fits = (value: unknown, types: string[]): boolean =>
  types.includes(typeOf(value)) || (types.includes("integer") && typeof value === "number");

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Many hosts send objects, lists and numbers as JSON strings, and one item where a list is meant. */
const unwrapped = (value: unknown, schema: JsonSchema): unknown => {
  const types = [schema.type ?? []].flat();
  if (fits(value, types)) return value;
  if (typeof value === "string") {
    const inner = parsed(value);
    if (fits(inner, types)) return inner;
  }
  return types.includes("array") && !isRecord(value) && value !== null ? [value] : value;
};

type Seen = (path: string, known: string[], name: string) => void;

const walk = (value: unknown, schema: JsonSchema, path: string, stranger: Seen): unknown => {
  const inner = unwrapped(value, schema);
  const { items, properties } = schema;
  if (Array.isArray(inner) && items !== undefined) {
    return inner.map((item, index) => walk(item, items, `${path}[${index}]`, stranger));
  }
  if (!isRecord(inner) || properties === undefined) return inner;
  return Object.fromEntries(
    Object.entries(inner).map(([name, child]) => {
      const field = path === "" ? shown(name) : `${path}.${shown(name)}`;
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known === undefined) stranger(field, Object.keys(properties), name);
      return [name, known === undefined ? child : walk(child, known, field, stranger)];
    }),
  );
};

const CONFIGURED: readonly string[] = [...WITHHELD, "baseUrl", "base_url", "apiKey"];

// As many as an answer names; each costs a search for what was meant.
const MOST_STRANGERS = 20;

// Of so few a model can choose; more would hide what is wrong.
const MOST_KNOWN = 8;

const instead = (name: string, known: string[], most: number): string => {
  const near = findNearest(name, known);
  if (near.length > 0) return `; did you mean ${near.join(" or ")}?`;
  return known.length === 0 || known.length > most ? "" : `; known: ${known.join(", ")}`;
};

const strangerFault = (field: string, known: string[], name: string, most: number): Fault => {
  const hint = CONFIGURED.includes(name)
    ? "comes from the server's configuration and is not an argument"
    : `is not an argument${instead(name, known, most)}`;
  return { field, code: "unknown", message: hint };
};

/** Returns arguments without the JSON strings that hosts wrap values in, and a fault for each unknown name. */
export const unwrapArguments = (
  sent: Values,
  schema: JsonSchema,
  mostKnown: number,
): { values: Values; unknown: Fault[] } => {
  const unknown: Fault[] = [];
  const values = walk(sent, schema, "", (field, known, name) => {
    if (unknown.length < MOST_STRANGERS) unknown.push(strangerFault(field, known, name, mostKnown));
  }) as Values;
  return { values, unknown };
};

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;
const PRINTABLE_RULE = "must have 1 to 255 printable ASCII characters";

const Steering = z.object({
  cursor: z.string().min(1).max(8192).optional(),
  idempotencyKey: z.string().regex(PRINTABLE, PRINTABLE_RULE).optional(),
  ifMatch: z.string().regex(PRINTABLE, PRINTABLE_RULE).optional(),
  confirmationToken: z.string().min(1).max(4096).optional(),
});

const steeringNames = (tool: OperationTool, listed: Values): string[] =>
  Object.keys(Steering.shape).filter((name) => {
    if (name === "cursor") return name in listed;
    if (name === "idempotencyKey") return isCreating(tool.operation);
    return name === "ifMatch" ? isUpdate(tool.operation) : mayAsk(tool);
  });

// A fault's words tell a missing value from a wrong one by its input.
const REPORT = { reportInput: true };

const pick = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.flatMap((name) => (name in values ? [[name, values[name]]] : [])));

const namesOf = (part: z.ZodObject | null): string[] =>
  Object.keys(part?.shape ?? {}).filter((name) => !(WITHHELD as readonly string[]).includes(name));

/** What a tool's arguments are held against; made at its first call, since a schema costs more to make than to use. */
type Form = { schema: JsonSchema; steering: string[]; own: z.ZodObject; ownNames: string[] };

const forms = new WeakMap<OperationTool, Form>();

const newForm = (tool: OperationTool): Form => {
  const schema = inputSchema(tool);
  const own = ownShape(tool.operation);
  const steering = steeringNames(tool, schema.properties ?? {});
  return { schema, steering, own: z.object(own), ownNames: Object.keys(own) };
};

const formOf = (tool: OperationTool): Form => {
  const form = forms.get(tool) ?? newForm(tool);
  forms.set(tool, form);
  return form;
};

/** Values as the platform expects them: bodies as the contract reads them, so that a status may be a word. */
const checked = (tool: OperationTool, values: Values): { args: Values; wrong: Fault[] } => {
  const { operation } = tool;
  const { own, ownNames } = formOf(tool);
  const flat = own.safeParse(pick(values, ownNames), REPORT);
  const wrong = flat.success ? [] : toFaults(flat.error);
  if (operation.effect === "session" || wrong.length > 0) return { args: {}, wrong };
  const bodyNames = namesOf(operation.body);
  const body = operation.body?.safeParse(pick(values, bodyNames), REPORT);
  if (body !== undefined && !body.success) return { args: {}, wrong: toFaults(body.error) };
  const rest = ownNames.filter((name) => !bodyNames.includes(name));
  return { args: { ...pick(values, rest), ...body?.data }, wrong };
};

/** Sentences name the value's fault; unknown names are told with what may have been meant. */
export const refuseArguments = (tool: Pick<OperationTool, "name">, list: Fault[]): Problem =>
  badArguments(
    `${tool.name}: ${formatFaults(list).replaceAll("?.", "?").replaceAll("?;", "?")}`,
    list,
  );

/** What a model sent, as the operation takes it; a Problem that names every fault otherwise. */
export const readArguments = (tool: OperationTool, sent: Values): Given => {
  const { schema, steering: names, ownNames } = formOf(tool);
  const { values, unknown } = unwrapArguments(sent, schema, MOST_KNOWN);
  const steering = pick(values, names);
  const steered = Steering.safeParse(steering, REPORT);
  // The audit log's own cursor is the server's: the platform's one stays inside it.
  const rest = ownNames.filter((name) => !(name in steering));
  const { args, wrong } = checked(tool, pick(values, rest));
  const all = [...unknown, ...(steered.success ? [] : toFaults(steered.error)), ...wrong];
  if (all.length > 0 || !steered.success) throw refuseArguments(tool, all);
  const { cursor, idempotencyKey, ifMatch, confirmationToken } = steered.data;
  return { args, cursor, idempotencyKey, ifMatch, confirmationToken };
};
