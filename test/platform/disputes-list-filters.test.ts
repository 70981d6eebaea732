import { beforeAll, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { dispute } from "../support/configuration.ts";
import { accountAt } from "../support/ingest.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

verifies("IN-72");
onEveryStore("further filters of the list of disputes", (at) => {
  const admin = useTenant(at, "filters");

  const ask = (query: string) => admin.call("GET", `${DISPUTES}?Sort=DisputeCode&${query}`);

  const codes = async (query: string): Promise<string[]> => {
    const reply = await ask(query);
    expect(reply.status, reply.text).toBe(200);
    const found = reply.body.map(({ disputeCode }: { disputeCode: string }) => disputeCode);
    expect(reply.headers.get("x-total-count")).toBe(String(found.length));
    return found;
  };

  beforeAll(async () => {
    const { assignee } = await configure(admin);
    const ingest = await at().exportCaller("filters", ["ingest:write"]);
    for (const [number, name] of [
      ["A-1", "Ärgon GmbH"],
      ["A-2", "Neon 100%"],
    ] as const) {
      const body = { name, currency: number === "A-1" ? "EUR" : "JPY" };
      const reply = await ingest("POST", accountAt(number), { body });
      if (reply.status !== 201) throw new Error(reply.text);
    }
    for (const [index, amount] of [10, 20, 30, 40].entries()) {
      const { disputeId } = await dispute(admin, {
        amount,
        accountNumber: index % 2 === 0 ? "A-1" : "A-2",
        documentNumber: `INV-${index}`,
        reasonCode: "WRONG",
        ...(index === 0 ? { assigneeId: assignee.assigneeId } : {}),
      });
      at().clock.advance(DAY);
      if (index > 1) await admin.call("PUT", `${DISPUTES}/${disputeId}`, { body: { status: 1 } });
    }
  });

  it.each([
    ["AccountName=%C3%A4RGON", [0, 2]],
    ["AccountName=100%25", [1, 3]],
    ["AccountName=100_", []],
    ["DisputeCode=D-INV-1-01", [1]],
    ["DisputeCode=d-inv-1-01", [1]],
    ["CurrencyCode=JPY", [1, 3]],
    ["AmountMin=20&AmountMax=30", [1, 2]],
    ["AmountMin=29.99", [2, 3]],
    ["AmountMax=10.5", [0]],
    ["Unassigned=true", [1, 2, 3]],
    ["Unassigned=false", [0]],
    ["Unassigned=true&Status=0", [1]],
    ["CreateDateFrom=2026-03-03&CreateDateTo=2026-03-04", [1, 2]],
    ["ClosedDateFrom=2026-03-05", [2, 3]],
    ["ClosedDateTo=2026-03-05&PageSize=1", [2]],
  ])("keeps those of %s", async (query, expected) => {
    expect(await codes(query)).toEqual(expected.map((index) => `D-INV-${index}-01`));
  });

  it.each([
    "AmountMin=many",
    "Unassigned=maybe",
    "CreateDateFrom=May",
    "CurrencyCode=usd",
    "AmountMin=1.2.3",
  ])("refuses %s", async (query) => {
    const reply = await ask(query);
    expect([reply.status, reply.body.errors[0].field]).toEqual([400, query.split("=")[0]]);
  });
});
