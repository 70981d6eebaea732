import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import { contract } from "../../contract/index.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { type Fields, truncateToBudget } from "../results/budget.ts";
import type { CallerContext } from "../caller.ts";
import { MARGIN_TOKENS } from "./part.ts";
import { EXPORT_SCHEMA } from "../results/resource-uris.ts";

type Asked = { tool: string; signal: AbortSignal };

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What payments can be asked for, as the platform tells it now. */
export const createReadSchema = ({
  broker,
  settings,
}: Pick<CallerContext, "broker" | "settings">) => {
  const fitted = (record: Fields): Fields =>
    truncateToBudget(record, settings.answerTokens - MARGIN_TOKENS).record;

  const whole = async (asked: Asked): Promise<Fields> => {
    const { output } = await broker.call(contract.payments.schema, {}, asked);
    return output as Fields;
  };

  return {
    all: async (asked: Asked): Promise<Fields> => fitted(await whole(asked)),
    async one(source: string, asked: Asked): Promise<Fields> {
      const { sources } = await whole(asked);
      const list: unknown[] = Array.isArray(sources) ? sources : [];
      const found = list
        .filter(isFields)
        .find(({ source: name }) => typeof name === "string" && sanitizeText(name) === source);
      if (found === undefined) throw new ResourceNotFoundError(`${EXPORT_SCHEMA}/${source}`);
      return fitted(found);
    },
  };
};
