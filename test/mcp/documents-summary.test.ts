import { beforeAll, describe, expect, it } from "vitest";
import { documentAt } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { connectModern, createOptions, readProblem } from "./hosts.ts";
import { askAt } from "./insight-host.ts";
import { scriptBroker } from "./script.ts";

verifies("IN-47");
onEveryStore("documents_summary", (at) => {
  const asking = askAt(at, "receivables");
  beforeAll(async () => {
    const ingest = await at().exportCaller("receivables");
    for (const [number, account, due, denomination] of [
      ["1", "A-1", "2026-03-20", 10.1],
      ["2", "A-1", "2026-02-20", 20.2],
      ["3", "A-2", "2025-10-01", 30.3],
      ["4", "A-2", "2025-10-01", 0],
    ] as const) {
      const body = { account_number: account, invoice_date: "2025-09-01", due_date: due };
      await ingest("PUT", documentAt(number), { body: { ...body, currency: "USD", denomination } });
    }
  });

  it("adds up open documents by days past due", async () => {
    const answer = await asking().ask("documents_summary");
    expect(answer.rowCount).toBe(3);
    expect(answer.currencyTotals).toEqual([{ currencyCode: "USD", count: 3, amount: 60.6 }]);
    expect(answer.items).toMatchObject([
      { key: { age: "current" }, count: 1, amount: 10.1 },
      { key: { age: "1-30" }, count: 1, amount: 20.2 },
      { key: { age: "31-60" }, count: 0 },
      { key: { age: "61-90" }, count: 0 },
      { key: { age: "91+" }, count: 1, amount: 30.3, oldest: { documentNumber: "3" } },
    ]);
  });

  it("groups by account", async () => {
    const { items } = await asking().ask("documents_summary", { groupBy: "account" });
    expect(items.map(({ key, amount }) => [key, amount])).toEqual([
      [{ account: "A-1" }, 30.3],
      [{ account: "A-2" }, 30.3],
    ]);
  });
});

describe("a platform without extensions", () => {
  verifies("IN-47");
  it.each(["documents_summary", "documents_list", "accounts_list"])(
    "%s says what is missing and what helps instead",
    async (name) => {
      const host = await connectModern(await createOptions(scriptBroker({})));
      const problem = readProblem(await host.call(name, {}));
      await host.close();
      expect(problem.code).toBe("method_not_allowed");
      expect(problem.message).toMatch(
        /This platform does not (list|offer) .*(documents_get|find_records)/,
      );
    },
  );
});
