import { beforeAll, expect, it } from "vitest";
import { ACCOUNT, DOCUMENT } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { readProblem } from "./hosts.ts";
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
