import type { CompiledQuery } from "kysely";
import type { Db } from "../../src/platform/store/port.ts";

/** A read of a table by a query: the condition on the index that finds its rows, and how many rows it reads. */
export type Access = { table: string; columns: string; rows: number };

/** A partition of payments has the rows of few tenants; in the test, of one. */
const PARTITION = /_\d+$/;
const LARGE = /^(?:accounts|documents|disputes|cashapp_payments)(?:_\d+)?$/;

type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
};

/** The condition of the index, also of the one from which a bitmap was made. */
const findCondition = (node: PlanNode): string =>
  node["Index Cond"] ?? (node.Plans ?? []).map(findCondition).join(" ");

/** Reads the large tables that a node and those below read. PostgreSQL scans small tables whole, as it should. */
const listNodes = (node: PlanNode): Access[] => {
  const { "Relation Name": table = "" } = node;
  const below = (node.Plans ?? []).flatMap(listNodes);
  if (!LARGE.test(table)) return below;
  const rows = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
  const columns = findCondition(node) || (PARTITION.test(table) ? "tenant_id" : "");
  return [{ table, columns, rows }];
};

// Results of subqueries, lists in JSON, and the full-text index, whose rows are then found by their number.
const DERIVED =
  /^(?:SCAN|SEARCH) (?:payments|g|ranked|whole|totals|several|found|samples|sought|v|x|walk|read|CONSTANT|json_each|\w+_triples|\w+_numbers|\(subquery-\d+\))(?: |$)/;

/** Returns how a query reads tables; SQLite tells no numbers of rows. */
export const readAccesses = async (
  db: Db,
  dialect: "sqlite" | "postgres",
  { sql, ...rest }: CompiledQuery,
): Promise<Access[]> => {
  const explained = (prefix: string) => db.executeQuery({ ...rest, sql: `${prefix} ${sql}` });
  if (dialect === "postgres") {
    const { rows } = await explained("explain (analyze, format json)");
    const [row] = rows as { "QUERY PLAN": { Plan: PlanNode }[] }[];
    return (row?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => listNodes(Plan));
  }
  const { rows } = await explained("explain query plan");
  return (rows as { detail: string }[])
    .map(({ detail }) => detail)
    .filter((detail) => /^(?:SCAN|SEARCH) /.test(detail) && !DERIVED.test(detail))
    .map((detail) => {
      const [, table = ""] = detail.split(" ");
      return { table, columns: detail, rows: 0 };
    });
};
