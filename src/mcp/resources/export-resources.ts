import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import { shortenSchema } from "../../contract/payments/brief-schema.ts";
import { isRecord } from "../../kit/json.ts";
import type { CallerContext } from "../caller.ts";
import { type Fields, fitRecord } from "../results/budget.ts";
import { EXPORT_SCHEMA } from "../results/resource-uris.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { MARGIN_TOKENS } from "./part.ts";

const findSource = (schema: Fields, source: string): Fields => {
  const sources: unknown[] = Array.isArray(schema["sources"]) ? schema["sources"] : [];
  const found = sources
    .filter(isRecord)
    .find(({ source: name }) => typeof name === "string" && sanitizeText(name) === source);
  if (found === undefined) throw new ResourceNotFoundError(`${EXPORT_SCHEMA}/${source}`);
  return found;
};

/** Shortens one source like the whole schema. */
const shortenSource = (source: Fields): Fields => {
  const { sources, ...rest } = shortenSchema({ sources: [source] });
  return { ...rest, ...(Array.isArray(sources) && isRecord(sources[0]) ? sources[0] : source) };
};

/** Reads the sources of payments with their fields, or one source. */
export const readPaymentSchema = async (
  { broker, settings }: CallerContext,
  options: CallOptions,
  source?: string,
): Promise<Fields> => {
  const schema = (await broker.call(contract.payments.schema, {}, options)).output as Fields;
  const budget = settings.answerTokens - MARGIN_TOKENS;
  return source === undefined
    ? fitRecord(schema, contract.payments.schema.brief, budget).record
    : fitRecord(findSource(schema, source), { shorten: shortenSource }, budget).record;
};
