import { expect, it } from "vitest";
import { formatTimestamp, DAY } from "../../src/kit/clock.ts";
import { application, COMPANY, score } from "../support/credit.ts";
import { accountAt, DOCUMENT, documentAt } from "../support/ingest.ts";
import { importCredit } from "../support/importing.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const of = (companyId: number | string): string =>
  `/creditprofile/api/v1/tenants/{t}/company/${companyId}/score`;

onEveryStore("company scores", (at) => {
  verifies("CR-03", "CR-04");
  it("returns the newest score of the buyer of an application", async () => {
    const admin = await at().tenant("newest");
    await importCredit(at(), "newest", "credit-applications", [application("app")]);
    const older = { creditLimit: 1 };
    await importCredit(at(), "newest", "scores", [
      score(4711, "2026-03-01"),
      score(4711, "2026-01-31T23:00:00-05:00", older),
      score(4711, "2025-12-31", older),
      score(47, "2026-12-31", older),
    ]);
    const app = "/creditappcore/api/v1/tenants/{t}/creditapplications/app";
    const { company } = (await admin.call("GET", app)).body;
    expect(company.companyId).toBe(COMPANY.companyId);
    const { status, body } = await admin.call("GET", of(company.companyId));
    expect([status, body]).toEqual([
      200,
      {
        fibs: { fibs_score: 71, fibs_confidence: 90 },
        dibs: { dibs_score: 64.5, dibs_confidence: 88 },
        creditLimit: 250_000.5,
        bankruptcyFlag: 0,
        outOfBusinessFlag: 0,
      },
    ]);
  });

  verifies("D-CRED-4");
  it("returns no score for an unknown company", async () => {
    const admin = await at().tenant("unknown");
    for (const companyId of [4711, "Juniper", "%F0%9F%98%80"]) {
      const { status, body } = await admin.call("GET", of(companyId));
      expect([status, body.code]).toEqual([404, "not_found"]);
    }
  });

  verifies("T-23", "D-CRED-4");
  it("is calculated from the invoices of the account with the company's number", async () => {
    const admin = await at().tenant("calculated");
    const ingest = await at().exportCaller("calculated");
    const now = at().clock();
    const day = (ago: number): string => formatTimestamp(now - ago * DAY).slice(0, 10);
    const made = async (path: string, body: object) => {
      const reply = await ingest("POST", path, { body });
      if (reply.status >= 300) throw new Error(reply.text);
    };
    await made(accountAt("4711"), { name: "Juniper", currency: "USD" });
    const invoice = (number: string, more: object) =>
      made(documentAt(number), {
        ...DOCUMENT,
        account_number: "4711",
        currency: "USD",
        invoice_date: day(100),
        due_date: day(70),
        original_denomination: 1000,
        denomination: 1000,
        ...more,
      });
    await invoice("on-time", {});
    await invoice("late", {});
    await invoice("not-due", { invoice_date: day(1), due_date: day(-29) });
    await invoice("old", { invoice_date: day(400), due_date: day(370) });
    await invoice("credit", { document_type: "credit_note", applies_to_invoice: "late" });
    await invoice("other-account", { account_number: "47110" });
    await invoice("other-currency", { currency: "EUR" });
    const close = (number: string, body: object) => made(`${documentAt(number)}/closure`, body);
    // Closed at first as it were, then for good.
    await close("on-time", { closure_reason: "other", closure_date: day(0) });
    await ingest("PATCH", documentAt("on-time"), { body: { denomination: 500 } });
    await close("on-time", { closure_reason: "paid", closure_date: day(70) });
    await close("late", { closure_reason: "write_off", closure_date: day(34) });
    const { status, body } = await admin.call("GET", of(4711));
    expect([status, body]).toEqual([
      200,
      {
        // 18 days late on average.
        fibs: { fibs_score: 80, fibs_confidence: 10 },
        // Half of what was due was written off.
        dibs: { dibs_score: 50, dibs_confidence: 10 },
        // A tenth of the three invoices, times 0.8.
        creditLimit: 240,
        bankruptcyFlag: 0,
        outOfBusinessFlag: 0,
      },
    ]);
    await importCredit(at(), "calculated", "scores", [score(4711, "2020-01-01")]);
    expect((await admin.call("GET", of(4711))).body.creditLimit).toBe(250_000.5);
  });
});
