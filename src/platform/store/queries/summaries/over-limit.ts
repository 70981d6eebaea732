import { sql } from "kysely";
import { getDialect } from "../../engine/dialect.ts";
import { findCircles, readCreditLimit, selectLimitHolders } from "../families.ts";
import {
  type Context,
  type DocumentGroupRow,
  FIGURES,
  type Matched,
  readFigures,
  selectDocumentGroups,
  toCurrency,
} from "./documents.ts";
import { type Expression, groupKey, list, orderTerm } from "./sql.ts";

/** The open documents that count against a limit; `k0` is the account that has it. */
export type OverLimitRow = DocumentGroupRow & { k0: string; credit_limit: number };

const HOLDER = groupKey(sql`holder.holder`, "k0");

/** Reads the accounts whose limit is exceeded, and what is owed to them in all currencies. */
export const createLimitQueries = async (context: Context, matched: Matched) => {
  const { db, tenantId, currency } = context;
  const { sums } = getDialect(db);
  const circles = await findCircles(db, tenantId);
  const join = sql`join (${selectLimitHolders(db, tenantId, circles)}) as holder
    on holder.member = d.account_number`;
  const owed = selectDocumentGroups(context, matched, { keys: [HOLDER], join });
  const limit = readCreditLimit(db, "l");
  const exceeded = sql`select o.* from (
    select g.*, ${limit} as credit_limit, ${sums.order(sums.split(limit))} as limit_order,
      coalesce(l.currency, ${currency}) as limit_currency from (${owed}) as g
    join accounts as l on l.tenant_id = ${tenantId} and l.account_number = g.k0) as o
    where o.currency = o.limit_currency and o.amount_order > o.limit_order`;
  const figures = readFigures(context);
  const columns = [sql.ref("k0"), ...figures, sql.ref("credit_limit")];

  return {
    /** Reads a page of the accounts, those that owe most above their limit first. */
    async readPage(): Promise<OverLimitRow[]> {
      const { orderBy, order, limit: rows, offset } = context.summary;
      const figure: Expression = FIGURES[orderBy ?? ""] ?? sql`amount_order - limit_order`;
      const { rows: page } = await sql<OverLimitRow>`
        select ${list(columns)}, count(*) over () as groups from (${exceeded}) as e
        order by ${list([orderTerm(figure, order ?? "desc"), orderTerm(sql`k0`, "asc")])}
        limit ${rows} offset ${offset}`.execute(db);
      return page;
    },
    /** Reads what counts against all exceeded limits, by currency. */
    async readTotals(): Promise<DocumentGroupRow[]> {
      const inCurrency = sql`${join} join (select k0, limit_currency from (${exceeded}) as e) as above
        on above.k0 = holder.holder and above.limit_currency = ${toCurrency(context)}`;
      const { rows } = await sql<DocumentGroupRow>`
        select ${list(figures)}, 0 as groups
        from (${selectDocumentGroups(context, matched, { keys: [], join: inCurrency })}) as t
        order by amount_order desc, currency`.execute(db);
      return rows;
    },
    /** Reads what the families of some accounts owe, by currency. */
    async readOwed(holders: readonly string[]): Promise<(DocumentGroupRow & { k0: string })[]> {
      const only = getDialect(db).isAmong("holder.holder", holders);
      const { rows } = await sql<DocumentGroupRow & { k0: string }>`
        select ${list([sql.ref("k0"), ...figures])}, 0 as groups
        from (${selectDocumentGroups(context, matched, { keys: [HOLDER], join, only })}) as t
        order by k0, currency`.execute(db);
      return rows;
    },
  };
};
