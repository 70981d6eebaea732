import { expect, it } from "vitest";
import { balanceOf } from "../../src/insights/documents.ts";
import { documentAt, INGEST } from "../support/ingest.ts";
import { importRecords } from "../support/importing.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const HEADER =
  "document_number,account_number,document_type,applies_to_invoice,invoice_date,due_date,currency,original_denomination,denomination";
const DAYS = "2026-01-15,2026-02-15,USD";

onEveryStore("credit notes in balances", (at) => {
  verifies("MN-24");
  it("reduce what is open: negative or turned by the map in files, in either sign over REST", async () => {
    await at().tenant("credits");
    const call = await at().exportCaller("credits");
    const summarize = async () => {
      const reply = await call("POST", `${INGEST}/documents/summary`, { body: {} });
      expect(reply.status, reply.text).toBe(200);
      return reply.body.currencyTotals;
    };
    const csv = [
      HEADER,
      `INV-1,C1,invoice,,${DAYS},1000.00,1000.00`,
      `CM-2,C1,credit_note,,${DAYS},300.00,300.00`,
      `CN-3,C1,credit_note,INV-1,${DAYS},50.00,50.00`,
      `CN-4,C1,credit_note,INV-1,${DAYS},-40.00,-40.00`,
    ].join("\n");
    const { counts, rejects } = await importRecords(at(), "credits", "documents", csv);
    expect(counts).toMatchObject({ written: 2, rejected: 2 });
    expect(rejects.map(({ line, code }) => [line, code])).toEqual([
      [3, "sign"],
      [4, "sign"],
    ]);
    expect(await summarize()).toEqual([{ currencyCode: "USD", count: 2, amount: 960 }]);
    const turned = (column: string) => ({
      column,
      signFrom: { column: "document_type", negative: ["credit_note"] },
    });
    const map = {
      ...Object.fromEntries(HEADER.split(",").map((name) => [name, name])),
      original_denomination: turned("original_denomination"),
      denomination: turned("denomination"),
    };
    const positive = csv.replaceAll("-40.00", "40.00");
    const again = await importRecords(at(), "credits", "documents", positive, { map });
    expect(again.counts).toMatchObject({ written: 2, unchanged: 2, rejected: 0 });
    expect(await summarize()).toEqual([{ currencyCode: "USD", count: 4, amount: 610 }]);
    const sent = {
      account_number: "C1",
      document_type: "credit_note",
      applies_to_invoice: "INV-1",
      invoice_date: "2026-01-15",
      due_date: "2026-02-15",
      currency: "USD",
      denomination: 10,
    };
    const put = await call("PUT", documentAt("CN-5"), { body: sent });
    expect([put.status, put.body.denomination]).toEqual([201, 10]);
    const patched = await call("PATCH", documentAt("CM-2"), {
      headers: { "If-Match": (await call("GET", documentAt("CM-2"))).headers.get("ETag") ?? "" },
      body: { po_number: "PO-1" },
    });
    expect(patched.status, patched.text).toBe(200);
    expect(await summarize()).toEqual([{ currencyCode: "USD", count: 5, amount: 600 }]);
    const { body } = await call("GET", documentAt("CN-5"));
    expect(balanceOf(body)).toEqual({ currencyCode: "USD", amount: -10 });
  });
});
