import { expect, it } from "vitest";
import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import { toDocumentColumns } from "../../src/platform/store/queries/listed-columns.ts";
import { documentAt, DOCUMENT, INGEST, ingestTenant } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { findRow } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const LINES = 10_000;
const COUNT = 12;
const PAGE_BYTES = 1024 * 1024;

type Page = { data: { documentNumber: string }[]; pagination: { cursor: string | null } };

verifies("C-114");
onEveryStore("records that are large", (at) => {
  it("make short pages, without a gap between them", async () => {
    const call = await ingestTenant(at(), "large");
    await call("PUT", `${INGEST}/accounts/A-1`, { body: { name: "Large", currency: "USD" } });
    const made = await call("PUT", documentAt("D-00"), { body: DOCUMENT });
    expect(made.status, made.text).toBe(201);
    const { store } = at();
    const row = await findRow(store.read, "documents", { tenant_id: "large" });
    const fields = { ...JSON.parse(row.fields), custom: "x".repeat(40 * LINES) };
    const rows = Array.from({ length: COUNT }, (_, index) => {
      const document_number = `D-${String(index + 1).padStart(2, "0")}`;
      return {
        ...row,
        document_number,
        csr_id: index + 10,
        ...toDocumentColumns(document_number, fields),
        fields: JSON.stringify(fields),
      };
    });
    await store.transaction((tx) => insertAll(tx, "documents", rows));
    const numbers: string[] = [];
    let cursor: string | null = "";
    let pages = 0;
    while (cursor !== null) {
      const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, text, body } = await call("GET", `${INGEST}/documents?limit=100${query}`);
      expect(status, text.slice(0, 200)).toBe(200);
      expect(text.length).toBeLessThan(PAGE_BYTES + 10_000);
      const page = body as Page;
      expect(page.data.length).toBeGreaterThan(0);
      numbers.push(...page.data.map((one) => one.documentNumber));
      ({ cursor } = page.pagination);
      pages += 1;
    }
    expect(numbers).toEqual(["D-00", ...rows.map((one) => one.document_number)]);
    expect(pages).toBeGreaterThan(4);
    const found = await call("POST", `${INGEST}/document-lookups`, { body: { numbers } });
    expect(found.status).toBe(200);
    expect(found.text.length).toBeLessThan(PAGE_BYTES + 10_000);
    expect(found.body).toMatchObject({ truncated: true });
  });

  it("are refused with a number of many digits, before it is parsed", async () => {
    const call = await ingestTenant(at(), "digits");
    const digits = "9".repeat(4_000_000);
    const sent = await call("PUT", documentAt("D-1"), {
      raw: `{"account_number":"A-1","denomination":${digits}}`,
    });
    expect(sent.status).toBe(422);
    expect(sent.text).toContain("digits");
    expect(sent.text.length).toBeLessThan(1000);
  });
});
