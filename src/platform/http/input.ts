import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { Problem, type Fault } from "../../contract/errors.ts";
import { toFaults, formatFaults } from "../../contract/faults.ts";
import type { Operation, Raw, Service } from "../../contract/operation.ts";
import { isEncoded, isUtf8Type } from "../../kit/charset.ts";
import { lowerId } from "../../kit/ids.ts";
import { LONG_NAME, MAX_NUMBER_LENGTH, RECORD_LIMITS } from "../../kit/json.ts";
import { parseJsonInTurns } from "../../kit/parse-json.ts";
import { readAtMost } from "../../kit/read-at-most.ts";

const MIB = 1024 * 1024;
const MAX_BODY_BYTES: Record<Service, number> = { gateway: MIB, export: MIB, ingest: 5 * MIB };
const BROKEN = {
  depth: `The body is nested deeper than ${RECORD_LIMITS.depth} levels.`,
  arrayLength: `An array has more than ${RECORD_LIMITS.arrayLength} items.`,
  names: `The body has more than ${RECORD_LIMITS.names} names of fields.`,
  commas: `The body has more than ${RECORD_LIMITS.commas} values.`,
  containers: `The body has more than ${RECORD_LIMITS.containers} arrays and objects.`,
  longNumbers: `The body has more than ${RECORD_LIMITS.longNumbers} numbers of more than 15 digits.`,
  longNames: `The body has more than ${RECORD_LIMITS.longNames} names of more than ${LONG_NAME} characters.`,
  digits: `A number has more than ${MAX_NUMBER_LENGTH} digits.`,
};

type Invalid = "invalid_parameter" | "invalid_request" | "validation_failed";

/** The ingest API has one error code for all invalid input. */
const createInvalid = ({ service }: Operation, code: Invalid): Invalid =>
  service === "ingest" ? "validation_failed" : code;

const refuse = (code: Invalid, errors: Fault[]): never => {
  throw new Problem(code, formatFaults(errors), { errors });
};

const parse = <S extends z.ZodType>(schema: S, value: unknown, code: Invalid): z.output<S> => {
  const result = schema.safeParse(value, { reportInput: true });
  return result.success ? result.data : refuse(code, toFaults(result.error));
};

/** Returns the schema beneath optional and nullable wrappers. */
const unwrapSchema = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapSchema(schema.unwrap() as z.ZodType)
    : schema;

const isNumeric = (schema: z.ZodType): boolean => {
  const core = unwrapSchema(schema);
  if (core instanceof z.ZodLiteral) return [...core.values].every((v) => typeof v === "number");
  return core instanceof z.ZodNumber;
};

const WHOLE = /^-?\d{1,15}$/;

// Of at most 15 digits, so that the number is exact.
const DECIMAL = /^-?(?=[\d.]{1,16}$)\d+\.\d+$/;

const decodeOne = (schema: z.ZodType, text: string): unknown => {
  if (unwrapSchema(schema) instanceof z.ZodBoolean && (text === "true" || text === "false")) {
    return text === "true";
  }
  return isNumeric(schema) && (WHOLE.test(text) || DECIMAL.test(text)) ? Number(text) : text;
};

/** Decodes the query by the types of the schema. Rejects a name that is sent twice unless it is a list. */
const decodeQuery = (schema: z.ZodObject, search: URLSearchParams, code: Invalid) => {
  const decoded: Record<string, unknown> = Object.create(null);
  for (const name of new Set(search.keys())) {
    const sent = search.getAll(name);
    const field: z.ZodType | undefined = Object.hasOwn(schema.shape, name)
      ? (schema.shape[name] as z.ZodType)
      : undefined;
    const core = field && unwrapSchema(field);
    const values = core instanceof z.ZodArray ? sent : [...new Set(sent)];
    if (values.includes(""))
      refuse(code, [{ field: name, code: "empty", message: "must not be empty" }]);
    if (core instanceof z.ZodArray) {
      decoded[name] = values.map((value) => decodeOne(core.element as z.ZodType, value));
    } else if (values.length > 1 && field !== undefined) {
      refuse(code, [{ field: name, code: "repeated", message: "must be sent once" }]);
    } else {
      decoded[name] = field === undefined ? values[0] : decodeOne(field, values[0] ?? "");
    }
  }
  return decoded;
};

// Windows tools write it before a text (RFC 8259, section 8.1).
const BYTE_ORDER_MARK = /^\uFEFF/;

/** @throws {Problem} unsupported_media_type; invalid_request for a part of a body (RFC 9110, section 14.5) */
export const checkBodyHeaders = ({ headers }: Request): void => {
  if (headers.has("content-range")) {
    throw new Problem("invalid_request", "Send the whole body at once, without Content-Range.");
  }
  if (!isEncoded(headers.get("content-encoding"))) return;
  throw new Problem(
    "unsupported_media_type",
    "Send the body without Content-Encoding; it is not decoded here.",
    { headers: { "Accept-Encoding": "identity" } },
  );
};

const createTooLarge = (most: number): never => {
  throw new Problem("payload_too_large", `A body may have ${most} bytes at most.`);
};

/** Reads a body as UTF-8 text. @throws {Problem} payload_too_large, invalid_json */
export const collectText = async (
  stream: AsyncIterable<Uint8Array>,
  most: number,
): Promise<string> => {
  const bytes = (await readAtMost(stream, most)) ?? createTooLarge(most);
  // Decoding invalid bytes would silently change the text, for example an account number.
  if (!isUtf8(bytes)) throw new Problem("invalid_json", "The body is not UTF-8 text.");
  return bytes.toString("utf8").replace(BYTE_ORDER_MARK, "");
};

/** Reads a body from Node's own message. A refused one is read to its end: the connection's next request is after it. */
const collectIncoming = async (incoming: IncomingMessage, most: number): Promise<string> => {
  try {
    return await collectText(incoming.iterator({ destroyOnReturn: false }), most);
  } finally {
    incoming.resume();
  }
};

// A fetch Request cannot have the body of a GET, so that body is read from Node's own message.
const readText = async (
  request: Request,
  incoming: IncomingMessage | undefined,
  most: number,
): Promise<string> => {
  if (Number(request.headers.get("content-length") ?? 0) > most) createTooLarge(most);
  if (request.method === "GET")
    return incoming === undefined ? "" : collectIncoming(incoming, most);
  return request.body === null ? "" : collectText(request.body, most);
};

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const parseBody = async (
  operation: Operation,
  text: string,
  contentType: string | null,
): Promise<unknown> => {
  if (text.trim() === "") return undefined;
  if (contentType === null || !JSON_TYPE.test(contentType)) {
    throw new Problem("unsupported_media_type", "Send the body as application/json.");
  }
  if (!isUtf8Type(contentType)) {
    throw new Problem(
      "unsupported_media_type",
      "Send the body in UTF-8, and name no other charset.",
    );
  }
  const parsed = await parseJsonInTurns(text, RECORD_LIMITS).catch(() => {
    throw new Problem("invalid_json", "The body is not valid JSON.");
  });
  if ("value" in parsed) return parsed.value;
  throw new Problem(createInvalid(operation, "invalid_request"), BROKEN[parsed.exceeded]);
};

/** Reads the JSON body, not validated; undefined where there is none or the operation takes none. */
export const readBody = async (
  operation: Operation,
  request: Request,
  incoming: IncomingMessage | undefined,
): Promise<unknown> => {
  if (operation.body === null) return undefined;
  checkBodyHeaders(request);
  const text = await readText(request, incoming, MAX_BODY_BYTES[operation.service]);
  return parseBody(operation, text, request.headers.get("content-type"));
};

/** Returns the stream of a file body after checking its headers. */
export const openBody = ({ type, maxBytes }: Raw, request: Request) => {
  checkBodyHeaders(request);
  const { headers, body } = request;
  const [sent = ""] = (headers.get("content-type") ?? "").split(";");
  if (sent.trim().toLowerCase() !== type) {
    throw new Problem("invalid_request", `Send the body as ${type}.`, {
      errors: [{ field: "Content-Type", code: "format", message: `must be ${type}` }],
    });
  }
  if (Number(headers.get("content-length") ?? 0) > maxBytes) createTooLarge(maxBytes);
  return body ?? new Blob([]).stream();
};

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

/** Validates path and query. */
export const parseTarget = (
  operation: Operation,
  params: Record<string, string>,
  { pathname, searchParams: search }: URL,
) => {
  const code = createInvalid(operation, "invalid_parameter");
  const named = Object.entries(params).map(([name, value]) => [name, lowerId(name, value)]);
  // The router keeps such a parameter as it is, which would name another record.
  if (!isDecodable(pathname)) {
    const message = "has a % that begins no UTF-8 character; write %25 for a percent sign";
    refuse(code, [{ field: "path", code: "format", message }]);
  }
  return {
    params: parse(operation.params, Object.fromEntries(named), code),
    query: parse(operation.query, decodeQuery(operation.query, search, code), code),
  };
};

/** Validates the body, unless the operation's service does (`lateValidation`). */
export const parseInputBody = (operation: Operation, sent: unknown): unknown => {
  if (operation.body === null) return null;
  const code = createInvalid(operation, "invalid_request");
  if (sent === undefined) {
    throw new Problem(code, "Send a JSON body.", {
      errors: [{ field: "", code: "required", message: "is required" }],
    });
  }
  return operation.lateValidation ? sent : parse(operation.body, sent, code);
};
