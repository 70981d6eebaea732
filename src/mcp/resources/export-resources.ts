import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import { isRecord } from "../../kit/json.ts";
import type { CallerContext } from "../caller.ts";
import { type Fields, fitRecord, truncateToBudget } from "../results/budget.ts";
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
    : truncateToBudget(findSource(schema, source), budget).record;
};
