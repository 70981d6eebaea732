import Big from "big.js";
import { beforeAll, expect, it } from "vitest";
import { listDoubts } from "../../src/platform/admin/doubts.ts";
import { askAt } from "../mcp/insight-host.ts";
import { listStatements } from "../money/files.ts";
import { makeMonth, type Month, type MonthFile } from "../money/month.ts";
import { type BankAccount, type Booking, decimal } from "../money/truth.ts";
import { importDisputes, importText } from "../support/importing.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "month";

/** Out of order: the last week before the first one, advices and notifications before and after their deposits. */
const byDisorder = (files: readonly MonthFile[]): MonthFile[] =>
  files
    .map((file, place) => ({ file, place: (place * 17) % files.length }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ file }) => file);

onEveryStore("a clerk's month with two banks, a lockbox, advices and a portal", (at) => {
  const asking = askAt(at, TENANT);
  let month: Month;
  const leftOut: Record<string, Big> = {};

  const bring = ({ kind, bytes, name, map, source }: MonthFile) =>
    importText(at(), TENANT, kind, bytes, {
      file: name,
      ...(map === undefined ? {} : { map }),
      ...(source === undefined ? {} : { source }),
    });
  const find = (name: RegExp): MonthFile => {
    const file = month.files.find((one) => name.test(one.name));
    if (file === undefined) throw new Error(String(name));
    return file;
  };

  beforeAll(async () => {
    month = await makeMonth();
    const lines = month.truth.customers.map(({ number, name }) => `${number},${name},USD`);
    await importText(
      at(),
      TENANT,
      "accounts",
      ["account_number,name,currency", ...lines].join("\n"),
    );
  });

  verifies("MN-01", "MN-02", "MN-12", "MN-15");
  it("imports every file, refuses the one that was cut, and writes nothing of those that come twice", async () => {
    const cut = find(/^bai2-week-3/);
    await expect(bring({ ...cut, bytes: cut.bytes.subarray(0, 900) })).rejects.toThrow(/line \d+/);
    for (const file of byDisorder(month.files)) {
      const { report, rejects } = await bring(file);
      expect([file.name, rejects]).toEqual([file.name, []]);
      for (const { currencyCode, leftOut: sum } of report.files.flatMap(({ totals }) => totals)) {
        if (file.kind !== "payments" || file.source !== undefined) continue;
        // A notification repeats the statement, whose entries count once.
        if (file.name.startsWith("camt.054") || file.name.endsWith(".edi")) continue;
        leftOut[currencyCode] = (leftOut[currencyCode] ?? new Big(0)).plus(sum);
      }
    }
    for (const twice of [/^bai2-week-2/, /^camt\.053/]) {
      const { report } = await bring(find(twice));
      expect(report).toMatchObject({ written: 0, doubtful: 0 });
    }
  });

  verifies("MN-01", "MN-33");
  it("says for each bank what its balance moved by, to the cent", async () => {
    const { items } = await asking().ask("payments_summarize", {
      source: "cashapp",
      groupBy: ["bankAccountLast4"],
    });
    const received = new Map(
      items.map((item) => {
        const { key, sum } = item as { key: object; sum: { paymentAmount: number | string } };
        return [Object.values(key)[0] as string, new Big(sum.paymentAmount)];
      }),
    );
    const compare = (account: BankAccount) => {
      const { number, currency, decimals } = account;
      const statements = listStatements(month.truth, account);
      const change = (statements.at(-1)?.closing ?? 0) - (statements[0]?.opening ?? 0);
      const said = received.get(number.slice(-4))?.plus(leftOut[currency] ?? 0);
      return { said: said?.toFixed(decimals), moved: decimal(change, decimals) };
    };
    for (const { said, moved } of Object.values(month.accounts).map(compare)) {
      expect(said).toBe(moved);
    }
  });

  verifies("MN-12");
  it("leaves a list of doubtful payments that is read in a minute", async () => {
    expect((await listDoubts(at().store.read, TENANT)).length).toBeLessThanOrEqual(2);
  });

  verifies("MN-31", "MN-33");
  it("explains the disputes of the month by the payments that fell short", async () => {
    const { bookings } = month.truth;
    const listShort = (of: readonly Booking[]) =>
      of.flatMap(({ transactions }) =>
        transactions.flatMap(({ shares }) => shares.filter(({ deduction }) => deduction > 0)),
      );
    const short = listShort(bookings);
    const returned = listShort(bookings.flatMap(({ returned: one }) => one ?? []));
    expect([short.length, returned.length]).toEqual([4, 1]);
    const head = "accountNumber,documentNumber,amount,currencyCode,categoryCode,reasonCode";
    const rows = short.map(
      ({ document: { customer, number, currency, decimals }, deduction }) =>
        `${customer.number},${number},${decimal(deduction, decimals)},${currency},DED,SHORT`,
    );
    await importDisputes(at(), TENANT, [head, ...rows].join("\n"), { createConfiguration: true });
    const { items } = await asking().ask("payments_match_disputes", {});
    const matched = (items as { documentNumber: string; match: string }[]).map(
      ({ documentNumber, match }) => [documentNumber, match],
    );
    // The deduction of a payment that was returned is gone with it.
    const expected = short.map((share) => [
      share.document.number,
      returned.includes(share) ? "none" : "exact",
    ]);
    expect(matched.toSorted()).toEqual(expected.toSorted());
  });
});
