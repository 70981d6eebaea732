import { contract } from "../contract/index.ts";
import type { PaymentSummary } from "../contract/insights/payment-summary.ts";
import { omitNulls } from "./brief.ts";
import type { InsightContext } from "./insight.ts";
import type { Row } from "./payment-measures.ts";

type Ranked = { id: string; value: string | number };

/** The ids of the rows with the largest or smallest values. */
export type TopRows = {
  add(row: Row): void;
  ids(): string[];
};

/** Creates a ranking of rows by a field; rows without a value have no rank, and equal values rank by id. */
export const createTopRows = ({ topRows, topOrder }: PaymentSummary, field: string): TopRows => {
  const best: Ranked[] = [];
  const sign = topOrder === "largest" ? 1 : -1;
  const isBefore = (a: Ranked, b: Ranked): boolean => {
    if (a.value !== b.value) return a.value > b.value === (sign === 1);
    return a.id < b.id;
  };
  return {
    add({ [field]: value, id }) {
      if (topRows === 0 || typeof id !== "string") return;
      if (typeof value !== "number" && typeof value !== "string") return;
      const row = { id, value };
      const last = best[topRows - 1];
      if (last !== undefined && !isBefore(row, last)) return;
      const place = best.findIndex((other) => isBefore(row, other));
      best.splice(place === -1 ? best.length : place, 0, row);
      if (best.length > topRows) best.pop();
    },
    ids: () => best.map(({ id }) => id),
  };
};

/** Reads the core fields of the ranked rows, in their order. */
export const readTopRows = async (
  { call }: InsightContext,
  { source }: PaymentSummary,
  ids: readonly string[],
): Promise<Row[]> => {
  if (ids.length === 0) return [];
  const args = { source, filters: { id: { in: ids } }, limit: ids.length };
  const { output } = await call(contract.payments.query, args);
  const byId = new Map(output.data.map((row) => [row["id"], omitNulls(row)]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
};
