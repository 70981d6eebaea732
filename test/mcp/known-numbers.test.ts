import { beforeAll, expect, it } from "vitest";
import { ACCOUNT, DOCUMENT } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { load } from "../support/payment-rows.ts";
import { readProblem, readText } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";

onEveryStore("numbers of accounts and documents", (at) => {
  const tenant = openOperationTenant(at, "numbered");

  beforeAll(async () => {
    const { answer } = tenant();
    for (const account_number of ["Acc-7001", "ACC-7002", "acc-7002"]) {
      // oxlint-disable-next-line no-await-in-loop -- one writer
      await answer("accounts_create", { ...ACCOUNT, account_number });
    }
    const document = { ...DOCUMENT, account_number: "Acc-7001", document_number: "Inv-9001" };
    await answer("documents_create", { ...document, currency: "USD" });
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

  it("are asked for in capital letters by an empty list", async () => {
    const { call } = tenant();
    const shown = await call("disputes_list", { AccountNumber: "acc-7002" });
    expect(readText(shown)).toMatch(/^Numbers are compared in their letter case: repeat the call/);
    const capital = await call("disputes_list", { AccountNumber: "ACC-7002" });
    expect(readText(capital)).not.toContain("letter case");
  });

  it("of payments are tried in capital letters as well", async () => {
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
      filter: { or: [{ accountNumber: { in: ["ACC-7002"] } }, { payerName: { eq: "x" } }] },
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
