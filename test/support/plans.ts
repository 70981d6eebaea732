import pg from "pg";
import { vi } from "vitest";

type Statement = { text: string; values: unknown[] };

/** A scan of a table or index, as EXPLAIN shows it. */
export type Scan = { kind: string; table: string; hasCondition: boolean };

/** Records the statements that this process sends to PostgreSQL until `stop`, each text once. */
export const recordStatements = () => {
  const statements = new Map<string, Statement>();
  const query = vi.spyOn(pg.Client.prototype, "query");
  return {
    stop(): Statement[] {
      for (const [sent, values] of query.mock.calls as unknown[][]) {
        // A cursor has both as members.
        const cursor = sent as { text?: string; values?: unknown[] } | null;
        const text = typeof sent === "string" ? sent : cursor?.text;
        const bound = Array.isArray(values) ? values : (cursor?.values ?? []);
        if (text !== undefined) statements.set(text, { text, values: bound });
      }
      query.mockRestore();
      return [...statements.values()];
    },
  };
};

type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: Plan[];
};

const listScans = (plan: Plan, parent?: Plan): Scan[] => {
  // The index scan below a bitmap does not name its table.
  const table = plan["Relation Name"] ?? parent?.["Relation Name"];
  const isScan = plan["Node Type"].endsWith("Scan");
  const own: Scan[] =
    table === undefined || !isScan
      ? []
      : [{ kind: plan["Node Type"], table, hasCondition: plan["Index Cond"] !== undefined }];
  return [...own, ...(plan.Plans ?? []).flatMap((inner) => listScans(inner, plan))];
};

/** Returns the scans of a statement's plan for its values. */
export const explain = async (client: pg.Client, statement: Statement): Promise<Scan[]> => {
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
    `explain (format json) ${statement.text}`,
    statement.values,
  );
  return rows.flatMap((row) => listScans(row["QUERY PLAN"][0].Plan));
};
