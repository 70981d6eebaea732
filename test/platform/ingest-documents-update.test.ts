import { expect, it } from "vitest";
import { DAY, MINUTE } from "../../src/kit/clock.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { faultsOf, statusesOf } from "../support/configuration.ts";
import {
  ACCOUNT,
  accountAt,
  DOCUMENT,
  documentAt,
  ingestTenant,
  recordAt,
  useIngestTenant,
} from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const WHOLE = {
  ...DOCUMENT,
  document_type: "credit_note",
  applies_to_invoice: "INV-0",
  invoice_num: "2026/0001",
  po_number: "PO 1",
  pdf_name: "Rechnung Ü.pdf",
  ship_to_account_num: "A-1-S",
  ship_to_address_street: "Hauptstraße 1",
  ship_to_address_suite: "",
  ship_to_address_city: "Köln",
  ship_to_address_state: "NW",
  ship_to_address_zip: "50667",
  ship_to_address_country: "DE",
  currency: "EUR",
  original_denomination: 12345678901.2345,
  denomination: -0.1,
  original_currency: "USD",
  base_currency: "GBP",
  original_denomination_in_original_currency: 0.3,
  original_denomination_in_base_currency: 99999999999.9999,
  denomination_in_original_currency: 1e-4,
  denomination_in_base_currency: 7,
  description: "Tools",
  comment: "Second delivery",
  line_items: [
    {
      line_number: 1,
      product_code: "T-1",
      description: "Hammer",
      quantity: 2.5,
      unit_of_measure: "EA",
      unit_price: 0.123456,
      amount: 0.31,
      tax_amount: 0,
    },
    { line_number: "2a" },
  ],
  discount_date: "2026-02-10",
  discount_amount: 1.5,
  freight_amount: 0,
  tax_amount: 3.25,
  payment_terms: "2/10 NET 30",
  branch_name: "West",
  custom_fields: { collections: { Route: { type: "text", value: "N" } }, priority: 1 },
  invoicing_detail: { __any: [1, { key: null }] },
};

onEveryStore("ingested documents: closing and updating", (at) => {
  const call = useIngestTenant(at, "docs");

  const document = (number: string) => recordAt(call, documentAt(number));

  verifies("ID-08", "ID-09", "ID-10", "ID-11", "T-13");
  it("closes at zero and reopens with an amount", async () => {
    const statusOf = async (sent: Promise<{ body: { status: string } }>) =>
      (await sent).body.status;
    for (const name of ["denomination", "denomination_in_base_currency"]) {
      const zero = { [name]: 0 };
      const some = { [name]: 5 };
      const { post, put, patch } = document(`ZERO-${name}`);
      expect(await statusOf(post({ ...DOCUMENT, ...zero }))).toBe("closed");
      expect(await statusOf(put({ ...DOCUMENT, ...zero }))).toBe("closed");
      expect(await statusOf(patch(zero))).toBe("closed");
      expect(await statusOf(put({ ...DOCUMENT, ...some }))).toBe("open");
      expect(await statusOf(patch(zero))).toBe("closed");
      expect(await statusOf(patch(some))).toBe("open");
      expect(await statusOf(put({ ...DOCUMENT, ...zero }))).toBe("closed");
      expect(await statusOf(put(DOCUMENT))).toBe("closed");
      expect(await statusOf(patch({ comment: "still" }))).toBe("closed");
      expect(await statusOf(document(`NEW-${name}`).put({ ...DOCUMENT, ...zero }))).toBe("closed");
    }
  });

  verifies("T-14");
  it("keeps a closed document with an amount closed after an unrelated PATCH", async () => {
    const { post, patch, close } = document("PAID");
    await post({ ...DOCUMENT, denomination: 50 });
    await close({ closure_reason: "paid" });
    expect((await patch({ comment: "late" })).body).toMatchObject({
      status: "closed",
      denomination: 50,
    });
    expect((await patch({ denomination: 50 })).body.status).toBe("open");
  });

  verifies("ID-12", "ID-13");
  it("closes for one of five reasons, now or on an earlier day", async () => {
    for (const closure_reason of ["paid", "write_off", "contra", "adjustment", "other"]) {
      const { post, get, close } = document(`CLOSE-${closure_reason}`);
      const { csrId, documentNumber } = (await post(DOCUMENT)).body;
      at().clock.advance(MINUTE);
      const now = new Date(at().clock()).toISOString();
      const closed = await close({ closure_reason });
      expect([closed.status, closed.body]).toEqual([
        200,
        { closure_reason, closedAt: now, status: "closed", csrId, documentNumber, updatedAt: now },
      ]);
      expect((await get()).body).toMatchObject({ status: "closed", updatedAt: now });
    }
    const early = document("CLOSE-EARLY");
    await early.post(DOCUMENT);
    const body = { closure_reason: "other", closure_date: "2026-02-01", notes: "by hand" };
    expect((await early.close(body)).body.closedAt).toBe("2026-02-01T00:00:00.000Z");
  });

  verifies("ID-12", "D-ING-8", "D-ING-12");
  it("refuses other reasons, future days and long notes, all at once", async () => {
    const { post, get, close } = document("CLOSE-BAD");
    await post(DOCUMENT);
    const future = new Date(at().clock() + DAY).toISOString();
    for (const [sent, expected] of [
      [{}, { closure_reason: "required" }],
      [{ closure_reason: "Paid" }, { closure_reason: "enum" }],
      [
        { closure_reason: null, closure_date: future, notes: "x".repeat(2001) },
        { closure_reason: "required", closure_date: "range", notes: "too_long" },
      ],
      [{ closure_reason: "paid", closure_date: "2026-13-01" }, { closure_date: "format" }],
      [{ closure_reason: "paid", closure_date: { toString: 1 } }, { closure_date: "type" }],
    ]) {
      const refused = await close(sent);
      expect([refused.status, faultsOf(refused.body)]).toEqual([422, expected]);
    }
    expect((await get()).body.status).toBe("open");
  });

  verifies("ID-14");
  it("refuses to close a closed document (conflict) or a missing one (not found)", async () => {
    const conflict = (document_number: string) => ({
      error: "document_already_closed",
      document_number,
      message: expect.any(String),
    });
    const one = document("TWICE");
    await one.post(DOCUMENT);
    const all = await Promise.all([1, 2, 3].map(() => one.close({ closure_reason: "paid" })));
    expect(statusesOf(all)).toEqual([200, 409, 409]);
    const again = await one.close({ closure_reason: "paid" });
    expect([again.status, again.body]).toEqual([409, conflict("TWICE")]);
    await document("AUTO").post({ ...DOCUMENT, denomination: 0 });
    expect((await document("AUTO").close({ closure_reason: "paid" })).body).toEqual(
      conflict("AUTO"),
    );
    const missing = await document("NONE").close({ closure_reason: "paid" });
    expect([missing.status, missing.body.error]).toEqual([404, "document_not_found"]);
  });

  verifies("D-ING-7");
  it("keeps each closure in the document's history", async () => {
    const { post, patch, close } = document("HISTORY");
    await post({ ...DOCUMENT, denomination: 0 });
    await patch({ denomination: 5 });
    await close({ closure_reason: "write_off", closure_date: "2026-02-01", notes: "small" });
    await patch({ denomination: 6 });
    await patch({ denomination: 0 });
    await patch({ denomination: 0 });
    const history = await at()
      .store.read.selectFrom("document_closures")
      .select(["number", "closure_reason", "source", "notes"])
      .where("tenant_id", "=", "docs")
      .where("document_number", "=", "HISTORY")
      .orderBy("number")
      .execute();
    const auto = { closure_reason: null, source: "auto", notes: null };
    expect(history).toEqual([
      { number: 1, ...auto },
      { number: 2, closure_reason: "write_off", source: "api", notes: "small" },
      { number: 3, ...auto },
    ]);
  });

  verifies("ID-15");
  it("replaces whole lists with PATCH", async () => {
    const { post, patch } = document("LINES");
    await post({ ...DOCUMENT, line_items: WHOLE.line_items });
    const line_items = [{ line_number: 9, amount: 1 }];
    expect((await patch({ line_items })).body.line_items).toEqual(line_items);
    expect((await patch({ line_items: [] })).body.line_items).toEqual([]);
    expect("line_items" in (await patch({ line_items: null })).body).toBe(false);
  });

  verifies("ID-19");
  it("finds a document only in the key's tenant", async () => {
    const other = await ingestTenant(at(), "docs-2");
    const theirs = recordAt(other, documentAt("SHARED"));
    await document("SHARED").post({ ...DOCUMENT, comment: "ours" });
    expect((await theirs.get()).status).toBe(404);
    expect((await theirs.patch({ comment: "stolen" })).status).toBe(404);
    expect((await theirs.post({ ...DOCUMENT, comment: "theirs" })).body).toMatchObject({
      csrId: 1,
    });
    expect((await document("SHARED").get()).body.comment).toBe("ours");
  });

  verifies("ID-20", "D-ING-11");
  it("accepts unusual encoded numbers, and refuses invalid ones", async () => {
    for (const number of ["A/1", "a b", "50%", "%2F", "株/é🙂", "#1?x=1&y", "..x", "closure"]) {
      const made = await document(number).put(DOCUMENT);
      expect([made.status, made.body.documentNumber]).toEqual([201, number]);
      expect((await document(number).get()).body).toEqual(made.body);
      expect((await document(number).close({ closure_reason: "paid" })).body.documentNumber).toBe(
        number,
      );
    }
    expect((await document("x".repeat(128)).put(DOCUMENT)).status).toBe(201);
    for (const number of ["x".repeat(129), "a\tb", "a\u0000b", "a\u0085b"]) {
      const refused = await document(number).put(DOCUMENT);
      expect([refused.status, Object.keys(faultsOf(refused.body))]).toEqual([
        422,
        ["document_number"],
      ]);
    }
    for (const wrong of ["%ZZ", "%E0%A4", "%"]) {
      const refused = await call("PUT", `${documentAt("x")}${wrong}`, { body: DOCUMENT });
      expect([wrong, refused.status, faultsOf(refused.body)]).toEqual([
        wrong,
        422,
        { path: "format" },
      ]);
    }
  });

  verifies("ID-21", "D-GEN-3");
  it("returns every field unchanged, to the last digit", async () => {
    const { post, get } = document("WHOLE");
    const made = await post(WHOLE);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject(WHOLE);
    expect(made.body.line_items).toEqual(WHOLE.line_items);
    expect(made.headers.get("x-ignored-fields")).toBeNull();
    expect((await get()).body).toEqual(made.body);
    for (const text of ["12345678901.2345", "0.1000000000000000000", "-0.0001", "1e3"]) {
      const raw = `{"denomination": ${text}}`;
      const patched = await call("PATCH", documentAt("WHOLE"), { raw });
      expect([patched.status, patched.body.denomination]).toEqual([200, Number(text)]);
    }
    for (const text of ["1234567890123456", "0.00001", "1e400", "1e-7"]) {
      const raw = `{"denomination": ${text}}`;
      const refused = await call("PATCH", documentAt("WHOLE"), { raw });
      expect([refused.status, Object.keys(faultsOf(refused.body))]).toEqual([
        422,
        ["denomination"],
      ]);
    }
  });

  verifies("D-GEN-2", "D-ING-8");
  it("keeps plain dates, returns times in UTC, and accepts a due date before the invoice date", async () => {
    const { put } = document("DATES");
    const { body } = await put({
      ...DOCUMENT,
      invoice_date: "2026-03-01T01:30:00+02:00",
      due_date: "2024-02-29",
      discount_date: "2026-03-01T00:00:00.5Z",
    });
    expect(body).toMatchObject({
      invoice_date: "2026-02-28T23:30:00.000Z",
      due_date: "2024-02-29",
      discount_date: "2026-03-01T00:00:00.500Z",
    });
  });

  verifies("D-GEN-2");
  it("refuses a time whose offset leads to a year without four digits", async () => {
    const { put, close } = document("YEARS");
    await put(DOCUMENT);
    for (const date of ["9999-12-31T23:59:59-12:00", "0000-01-01T00:00:00+12:00"]) {
      const refused = await put({ ...DOCUMENT, due_date: date });
      expect([refused.status, faultsOf(refused.body)]).toEqual([422, { due_date: "format" }]);
      const closing = await close({ closure_reason: "paid", closure_date: date });
      expect(faultsOf(closing.body)).toEqual({ closure_date: "format" });
    }
    const last = { invoice_date: "0000-01-01", due_date: "9999-12-31T23:59:59Z" };
    expect((await put({ ...DOCUMENT, ...last })).status).toBe(200);
  });

  verifies("D-ING-4");
  it("accepts an unknown account unless the tenant requires known ones", async () => {
    const strict = await ingestTenant(at(), "strict");
    await setTenant({ store: at().store }, "strict", ["requireKnownAccount=true"]);
    const { post, patch } = recordAt(strict, documentAt("D"));
    const unknown = { account_number: "unknown_reference" };
    const refused = await post({ ...DOCUMENT, due_date: "x" });
    expect(faultsOf(refused.body)).toEqual({ ...unknown, due_date: "format" });
    await recordAt(strict, accountAt("A-1")).post(ACCOUNT);
    expect((await post(DOCUMENT)).status).toBe(201);
    expect(faultsOf((await patch({ account_number: "A-2" })).body)).toEqual(unknown);
    expect((await patch({ comment: "x" })).status).toBe(200);
  });

  it("creates with If-None-Match, and does not replace an existing document", async () => {
    const { put, get } = document("ABSENT");
    const absent = { "If-None-Match": "*" };
    const first = await put(DOCUMENT, absent);
    expect(first.status).toBe(201);
    const second = await put({ ...DOCUMENT, comment: "x" }, absent);
    expect([second.status, second.body.error]).toEqual([412, "precondition_failed"]);
    const etag = first.headers.get("etag") ?? "";
    expect((await put({ ...DOCUMENT, comment: "x" }, { "If-None-Match": etag })).status).toBe(412);
    expect((await get()).body.comment).toBeUndefined();
    const other = { "If-None-Match": '"another"' };
    expect((await put({ ...DOCUMENT, comment: "x" }, other)).status).toBe(200);
  });

  verifies("D-GEN-9");
  it("closes only the version that was read", async () => {
    const { post, patch, close } = document("ETAG");
    const etag = (await post(DOCUMENT)).headers.get("etag") ?? "";
    await patch({ comment: "x" });
    const stale = await close({ closure_reason: "paid" }, { "If-Match": etag });
    expect([stale.status, stale.body.error]).toEqual([412, "precondition_failed"]);
    expect((await close({ closure_reason: "paid" }, { "If-Match": "*" })).status).toBe(200);
  });
});
