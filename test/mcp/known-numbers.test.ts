import { beforeAll, expect, it } from "vitest";
import { ACCOUNT, DOCUMENT } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { load } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";
import { readProblem } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";

onEveryStore("numbers of accounts and documents", (at) => {
  const tenant = openOperationTenant(at, "numbered");

  beforeAll(async () => {
    const { answer, records } = tenant();
    for (const account_number of ["Acc-7001", "ACC-7002", "acc-7002"]) {
      await answer("accounts_create", { ...ACCOUNT, account_number });
    }
    const document = { ...DOCUMENT, account_number: "Acc-7001", document_number: "Inv-9001" };
    await answer("documents_create", { ...document, currency: "USD" });
    await answer("disputes_create", {
      accountNumber: "Acc-7001",
      documentNumber: "Inv-9001",
      amount: 10,
      reasonId: records.used.reasonId,
    });
  });

  it("match in any letter case", async () => {
    const { answer } = tenant();
    expect(await answer("accounts_get", { account_number: "aCC-7001" })).toMatchObject({
      accountNumber: "Acc-7001",
    });
    expect(await answer("documents_get", { document_number: "INV-9001" })).toMatchObject({
      documentNumber: "Inv-9001",
    });
    const files = await answer("document_attachments_list", { document_number: "INV-9001" });
    expect(files["attachments"]).toEqual([]);
  });

  verifies("IN-20");
  it("match in any letter case in lists and searches", async () => {
    const { answer } = tenant();
    const code = "D-Inv-9001-01";
    const dispute = { disputeCode: code };
    for (const filter of [
      { DocumentNumber: "iNV-9001" },
      { AccountNumber: "aCC-7001", DocumentNumber: "INV-9001" },
    ]) {
      expect(await answer("disputes_list", filter), JSON.stringify(filter)).toMatchObject({
        items: [dispute],
      });
    }
    const numbers = { accountNumber: "ACC-7001", documentNumbers: ["inv-9001"] };
    expect(await answer("disputes_list_by_document_numbers", numbers)).toMatchObject({
      items: [dispute],
    });
    expect(await answer("disputes_get", { disputeId: code.toLowerCase() })).toMatchObject(dispute);
    expect(await answer("documents_list", { account_number: "ACC-7001" })).toMatchObject({
      data: [{ documentNumber: "Inv-9001" }],
    });
    expect(await answer("dispute_packet", { disputeId: "INV-9001" })).toMatchObject({
      rowCount: 1,
    });
    expect(await answer("disputes_triage", { documentNumber: "inv-9001" })).toMatchObject({
      items: [dispute],
    });
    const found = await answer("find_records", {
      text: "iNV-9001",
      types: ["document", "dispute"],
    });
    expect(found["items"]).toMatchObject([
      { type: "document", id: "Inv-9001" },
      { type: "dispute", id: code },
    ]);
  });

  it("of payments are tried as the payments have them", async () => {
    const { answer, at: platform, tenantId } = tenant();
    await load(platform, tenantId, "cashapp", [
      {
        id: "1",
        paymentId: "P-1",
        accountNumber: "ACC-7002",
        paymentAmount: 5,
        currencyCode: "USD",
      },
    ]);
    const filters = { or: [{ accountNumber: { in: ["acc-7002"] } }, { payerName: { eq: "x" } }] };
    expect(await answer("payments_summarize", { source: "cashapp", filters })).toMatchObject({
      rowCount: 1,
      filter: {
        or: [{ accountNumber: { in: ["acc-7002", "ACC-7002"] } }, { payerName: { eq: "x" } }],
      },
    });
    expect(await answer("payments_query", { source: "cashapp", filters })).toMatchObject({
      data: [{ paymentId: "P-1" }],
    });
    const unknown = { accountNumber: { eq: "none-1" } };
    expect(
      await answer("payments_summarize", { source: "cashapp", filters: unknown }),
    ).toMatchObject({
      rowCount: 0,
      notes: ["Nothing matches. find_records finds the right accountNumber."],
    });
  });

  it("are named if several or only similar ones exist", async () => {
    const { call } = tenant();
    const ambiguous = readProblem(await call("accounts_get", { account_number: "Acc-7002" }));
    expect(ambiguous.code).toBe("account_not_found");
    expect(ambiguous.message).toMatch(/Similar: (ACC-7002, acc-7002|acc-7002, ACC-7002)\./);
    const part = readProblem(await call("documents_get", { document_number: "9001" }));
    expect(part.message).toMatch(/Similar: Inv-9001\.$/);
    const unknown = readProblem(await call("documents_get", { document_number: "NONE-1" }));
    expect(unknown.message).not.toContain("Similar");
  });
});
