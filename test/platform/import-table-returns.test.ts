import { expect, it } from "vitest";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { writeXlsx } from "hucre/xlsx";
import { verifies } from "../support/verifies.ts";

const HEAD = [
  "paymentId",
  "paymentDate",
  "currencyCode",
  "paymentAmount",
  "payerName",
  "documentNumber",
  "paymentReference",
  "applicationStatus",
];
type Cells = readonly (string | number)[];
const csv = (...rows: Cells[]): string => [HEAD, ...rows].map((row) => row.join(",")).join("\n");

const FIRST = ["P-1", "2026-03-02", "USD", 100, "Acme", "D1", "R-1", ""];
const SECOND = ["P-2", "2026-03-03", "USD", 200, "Beta", "D2", "R-2", ""];
const BACK = "2026-03-20";

onEveryStore("returns in tables of payments", (at) => {
  const { start, pay, paid } = createMoneyCases(at);
  const begin = () =>
    start("USD", { accounts: ["Acme"], documents: { D1: "100.00", D2: "200.00" } });
  const linked = async (id: RegExp) => {
    const back = (await paid()).find((one) => id.test(one.id) && one.amount < 0);
    const { returnedPaymentId, doubt } = back?.rows[0] ?? {};
    return { of: returnedPaymentId, doubt, documents: back?.documents };
  };
  const ofFirst = { of: "P-1", doubt: null, documents: { D1: -100 } };

  verifies("MN-10");
  it.each<[how: string, back: Cells]>([
    ["its reference", ["B-1", BACK, "USD", -100, "", "", "R-1", ""]],
    ["the number of the payment", ["B-1", BACK, "USD", -100, "", "", "P-1", ""]],
    ["payer and amount", ["B-1", BACK, "USD", -100, "ACME", "", "", ""]],
    ["document and amount", ["B-1", BACK, "USD", -100, "", "D1", "", ""]],
    [
      "payer and amount, if its status says so, too",
      ["B-1", BACK, "USD", -100, "Acme", "", "", "reversed"],
    ],
  ])("find their payment by %s, before it and after it", async (_, back) => {
    for (const order of [
      [csv(FIRST, SECOND), csv(back)],
      [csv(back), csv(FIRST, SECOND)],
      [csv(FIRST, SECOND, back)],
    ]) {
      await begin();
      for (const file of order) expect((await pay(file)).rejects).toEqual([]);
      expect(await linked(/^B-1$/)).toEqual(ofFirst);
      expect(await pay(order.at(-1) ?? "")).toMatchObject({ report: { written: 0, doubtful: 0 } });
    }
  });

  it("find their payment if they have its number, also a part of it", async () => {
    await begin();
    await pay(csv(FIRST, SECOND));
    const rows = [HEAD, ["P-1", BACK, "USD", -40, "Acme", "", "", ""]];
    const book = Buffer.from(await writeXlsx({ sheets: [{ name: "Payments", rows }] }));
    const { report } = await pay(book);
    expect(report).toMatchObject({ written: 1, doubtful: 0 });
    expect(await linked(/^P-1~/)).toEqual({ of: "P-1", doubt: null, documents: { D1: -40 } });
    expect((await pay(book)).report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
  });

  it("wait if several payments can be meant, a later one, or one that has come back already", async () => {
    await begin();
    const twin = (id: string, day: string): Cells => [id, day, "USD", 100, "Acme", "", "", ""];
    await pay(csv(FIRST, twin("P-3", "2026-03-04")));
    await pay(csv(["B-1", BACK, "USD", -100, "Acme", "", "", ""]));
    expect(await linked(/^B-1$/)).toMatchObject({ of: null });
    await begin();
    await pay(csv(twin("P-3", "2026-03-21"), ["B-1", BACK, "USD", -100, "Acme", "", "", ""]));
    expect(await linked(/^B-1$/)).toMatchObject({ of: null });
    await begin();
    await pay(csv(FIRST));
    await pay(csv(["B-1", BACK, "USD", -100, "Acme", "", "", ""]));
    await pay(csv(["B-2", BACK, "USD", -100, "Acme", "", "", ""]));
    expect(await linked(/^B-1$/)).toEqual(ofFirst);
    expect(await linked(/^B-2$/)).toMatchObject({ of: null });
  });

  verifies("MN-01", "MN-03");
  it("keep payments apart that have one number in two files and pay other documents", async () => {
    await begin();
    const register = (number: string): string =>
      csv(
        ["1001", "2026-03-03", "USD", 200, "Beta", "D2", "", ""],
        ["1001", "2026-03-03", "USD", 200, "Beta", number, "", ""],
      );
    await pay(csv(["1001", "2026-03-02", "USD", 100, "Acme", "D1", "", ""]));
    const { report } = await pay(register("D3"));
    expect(report?.files[0]?.totals).toMatchObject([{ credits: 200, written: 200, doubtful: 200 }]);
    expect((await paid()).map(({ amount }) => amount)).toEqual([100, 200]);
    expect((await pay(register("D3"))).report).toMatchObject({ written: 0, unchanged: 2 });
    // A further document of the payment.
    expect((await pay(register("D4"))).report).toMatchObject({ written: 1, unchanged: 1 });
    expect((await paid()).map(({ amount, rows }) => [amount, rows.length])).toEqual([
      [100, 1],
      [200, 3],
    ]);
  });
});
