import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { faultsOf, statusesOf } from "../support/configuration.ts";
import { DOCUMENT, documentAt, recordAt, useIngestTenant } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("ingested documents", (at) => {
  const call = useIngestTenant(at, "docs");

  const document = (number: string) => recordAt(call, documentAt(number));

  verifies("ID-01", "ID-05", "ID-16");
  it("creates once; the second POST is a conflict", async () => {
    const { post, get } = document("D-1");
    const made = await post(DOCUMENT);
    const now = new Date(at().clock()).toISOString();
    expect([made.status, made.body]).toEqual([
      201,
      {
        csrId: 1,
        documentNumber: "D-1",
        ...DOCUMENT,
        document_type: "invoice",
        pdf_name: "D-1.pdf",
        status: "open",
        createdAt: now,
        updatedAt: now,
      },
    ]);
    const again = await post(DOCUMENT);
    expect(again.status).toBe(409);
    expect(again.body).toEqual({
      error: "document_already_exists",
      document_number: "D-1",
      message: expect.stringMatching(/PUT.*PATCH/),
    });
    expect((await get()).body).toEqual(made.body);
  });

  verifies("ID-01");
  it("replaces or creates with PUT, changes with PATCH, and reports missing documents", async () => {
    const { put, patch } = document("D-2");
    const made = await put({ ...DOCUMENT, comment: "x" });
    expect(made.status).toBe(201);
    at().clock.advance(MINUTE);
    expect((await put({ ...DOCUMENT, comment: "x" })).body).toEqual(made.body);
    const replaced = await put(DOCUMENT);
    expect(replaced.status).toBe(200);
    expect(replaced.body.csrId).toBe(made.body.csrId);
    expect("comment" in replaced.body).toBe(false);
    expect(replaced.body.updatedAt).not.toBe(made.body.updatedAt);
    const changed = await patch({ comment: "y" });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...replaced.body, comment: "y", updatedAt: expect.any(String) },
    ]);
    for (const missing of [await document("D-0").get(), await document("D-0").patch({})]) {
      expect([missing.status, missing.body]).toEqual([
        404,
        { error: "document_not_found", message: "There is no document D-0." },
      ]);
    }
    expect((await document("D-0").get()).status).toBe(404);
  });

  verifies("ID-01");
  it("creates one document in concurrent requests", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => document("RACE").post(DOCUMENT)));
    expect(statusesOf(all)).toEqual([201, ...Array(7).fill(409)]);
    const puts = await Promise.all(
      Array.from({ length: 8 }, (_, n) => document("RACE-2").put({ ...DOCUMENT, comment: `${n}` })),
    );
    expect(statusesOf(puts)).toEqual([...Array(7).fill(200), 201]);
  });

  verifies("ID-02", "ID-06");
  it("requires account and dates, and reports every fault by its path", async () => {
    const refused = await document("BAD").post({
      invoice_date: "2026-02-29",
      due_date: null,
      document_type: "memo",
      ship_to_address_country: "Germany",
      base_currency: "XYZ",
      denomination: "100",
      tax_amount: 1.23456,
      line_items: [{ amount: 1 }, { amount: "1", line_number: 1.5 }, 7],
      custom_fields: { collections: { Route: { type: "money", value: 1 } } },
    });
    expect([refused.status, refused.body.error]).toEqual([422, "validation_failed"]);
    expect(faultsOf(refused.body)).toEqual({
      account_number: "required",
      invoice_date: "format",
      due_date: "required",
      document_type: "enum",
      ship_to_address_country: "format",
      base_currency: "enum",
      denomination: "type",
      tax_amount: "format",
      "line_items[1].amount": "type",
      "line_items[1].line_number": "format",
      "line_items[2]": "type",
      "custom_fields.collections.Route.type": "enum",
    });
    expect((await document("BAD").get()).status).toBe(404);
    await document("BAD-2").post(DOCUMENT);
    for (const [field, value, code] of [
      ["account_number", null, "required"],
      ["account_number", "", "empty"],
      ["due_date", null, "required"],
      ["due_date", "31.01.2026", "format"],
      ["ship_to_address_country", "ZZ", "enum"],
    ] as const) {
      const patched = await document("BAD-2").patch({ [field]: value });
      expect([patched.status, faultsOf(patched.body)]).toEqual([422, { [field]: code }]);
    }
  });

  verifies("ID-03");
  it("accepts a type by word or number, and returns the word", async () => {
    const { put } = document("TYPE");
    for (const [sent, given] of [
      ["other", "other"],
      [1, "other"],
      ["invoice", "invoice"],
      [2, "invoice"],
      ["credit_note", "credit_note"],
      [3, "credit_note"],
      [null, "invoice"],
    ]) {
      const body = { ...DOCUMENT, document_type: sent, applies_to_invoice: "INV-1" };
      expect((await put(body)).body.document_type).toBe(given);
    }
    for (const document_type of [0, 4, "2", "Invoice", true]) {
      const refused = await put({ ...DOCUMENT, document_type });
      expect([refused.status, faultsOf(refused.body)]).toEqual([422, { document_type: "enum" }]);
    }
  });

  verifies("ID-04");
  it("requires an invoice for a credit note, also when a PATCH changes the type", async () => {
    const { post, put, patch } = document("CREDIT");
    const needed = { applies_to_invoice: "conditional_required" };
    for (const document_type of ["credit_note", 3]) {
      const body = { ...DOCUMENT, document_type };
      expect(faultsOf((await post(body)).body)).toEqual(needed);
      expect(faultsOf((await put({ ...body, applies_to_invoice: "" })).body)).toEqual(needed);
    }
    expect((await post(DOCUMENT)).status).toBe(201);
    expect(faultsOf((await patch({ document_type: 3 })).body)).toEqual(needed);
    expect((await patch({ document_type: 3, applies_to_invoice: "D-1" })).status).toBe(200);
    expect(faultsOf((await patch({ applies_to_invoice: null })).body)).toEqual(needed);
    expect((await patch({ applies_to_invoice: null, document_type: null })).body).toMatchObject({
      document_type: "invoice",
    });
  });

  verifies("ID-05");
  it("derives the PDF's name from the number until it is set, and after it is cleared", async () => {
    const { put, patch } = document("PDF 1");
    expect((await put({ ...DOCUMENT, pdf_name: "own.pdf" })).body.pdf_name).toBe("own.pdf");
    expect((await patch({ comment: "x" })).body.pdf_name).toBe("own.pdf");
    expect((await patch({ pdf_name: null })).body.pdf_name).toBe("PDF 1.pdf");
  });

  verifies("ID-07", "D-GEN-6");
  it("ignores a status in a body silently", async () => {
    const { post, put, patch, get } = document("STATUS");
    for (const [send, fields] of [
      [post, DOCUMENT],
      [put, DOCUMENT],
      [patch, {}],
    ] as const) {
      const { status, headers, body } = await send({ ...fields, status: "closed" });
      expect(status).toBeLessThan(300);
      expect(headers.get("x-ignored-fields")).toBeNull();
      expect(body.status).toBe("open");
    }
    const { headers } = await patch({ status: 7, mood: "good", line_items: [{ weight: 1 }] });
    expect(headers.get("x-ignored-fields")).toBe("mood,line_items[0].weight");
    expect((await get()).body.status).toBe("open");
  });
});
