import type { Person, TestPlatform } from "./platform.ts";
import { make } from "./configuration.ts";
import { importRecords } from "./importing.ts";
import { load, ndjson } from "./payment-rows.ts";

/** An invoice of 500 USD. */
export const document = (document_number: string, account_number: string, more: object = {}) => ({
  document_number,
  account_number,
  invoice_date: "2026-01-05",
  due_date: "2026-02-05",
  currency: "USD",
  denomination: 500,
  original_denomination: 500,
  ...more,
});

/** Loads accounts, documents, payments and reasons that claims can name. */
export const createClaimRecords = async (
  at: TestPlatform,
  tenantId: string,
  admin: Person,
): Promise<void> => {
  const how = { format: "ndjson" as const };
  const accounts = [
    { account_number: "C-1", name: "Acme Trading Ltd", currency: "USD" },
    { account_number: "C-2", name: "Borealis AB", currency: "USD" },
  ];
  await importRecords(at, tenantId, "accounts", ndjson(accounts), how);
  const documents = [
    document("INV-1", "C-1", { po_number: "PO-1" }),
    document("INV-2", "C-1"),
    document("INV-3", "C-2"),
    document("INV-6", "C-1", { po_number: "PO-6", currency: "EUR" }),
    document("INV-7", "C-1", { po_number: "PO-6" }),
    document("INV-5", "C-1"),
    document("INV-4", "C-1", { denomination: 90, original_denomination: undefined }),
  ];
  const { rejects } = await importRecords(at, tenantId, "documents", ndjson(documents), how);
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  const row = (id: string, paymentId: string, documentNumber: string, deductionAmount: number) => ({
    id,
    paymentId,
    paymentDate: "2026-02-01",
    accountNumber: "C-1",
    documentNumber,
    currencyCode: "USD",
    deductionAmount,
  });
  await load(at, tenantId, "cashapp", [
    row("1", "P-1", "INV-1", 50),
    row("2", "P-1", "INV-2", 50),
    row("3", "P-2", "INV-1", 50),
  ]);
  await make(admin, "/categories", { code: "LOG", description: "Logistics" });
  for (const [code, description] of [
    ["SHORT", "Goods short shipped"],
    ["DMG", "Damaged in transit"],
  ]) {
    await make(admin, "/reasons", { code, description, categoryCode: "LOG" });
  }
};
