import { beforeAll, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { documentAt } from "../support/ingest.ts";
import { load } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";
import { askAt } from "./insight-host.ts";

type Packet = Record<string, unknown> & {
  missing: string[];
  notes: { text: string }[];
  otherDisputes: { largest: object[] };
};

const NUMBER = "INV 7/A";

onEveryStore("dispute_packet", (at) => {
  const asking = askAt(at, "packets");
  let dispute: { disputeId: string; disputeCode: string };

  const packetOf = async (disputeId: string): Promise<Packet> => {
    const answer = await asking().ask("dispute_packet", { disputeId });
    expect(answer).toMatchObject({ rowCount: 1, itemsTotal: 1 });
    return answer.items[0] as Packet;
  };

  const open = async (more: Record<string, unknown>) =>
    (
      await asking().admin.call("POST", DISPUTES, {
        body: { accountNumber: "A-1", reasonCode: "WRONG", ...more },
      })
    ).body;

  beforeAll(async () => {
    const { admin, at: platform, tenantId } = asking();
    await configure(admin);
    const ingest = await platform.exportCaller(tenantId);
    await ingest("PUT", documentAt(NUMBER), {
      body: {
        account_number: "A-1",
        invoice_date: "2026-01-31",
        due_date: "2026-03-02",
        currency: "USD",
        original_denomination: 100,
        denomination: 40,
      },
    });
    await load(platform, tenantId, "cashapp", [
      {
        id: "p-1",
        paymentId: "P-1",
        documentNumber: NUMBER,
        currencyCode: "USD",
        appliedAmount: 60,
        invoiceAmount: 100,
        shortPay: true,
      },
      {
        id: "p-2",
        paymentId: "P-2",
        documentNumber: "INV-8",
        currencyCode: "USD",
        appliedAmount: 1,
      },
    ]);
    dispute = await open({ documentNumber: NUMBER, amount: 55 });
    await open({ documentNumber: NUMBER, amount: 55 });
    await open({ documentNumber: "INV-8", amount: 900 });
    platform.clock.advance(3 * DAY);
  });

  verifies("IN-46");
  it("gives dispute, document, payments, other disputes and resolutions", async () => {
    const packet = await packetOf(dispute.disputeCode);
    expect(packet).toMatchObject({
      dispute: {
        disputeId: dispute.disputeId,
        status: "Open",
        amount: 55,
        currencyCode: "USD",
        ageDays: 3,
      },
      document: {
        documentNumber: NUMBER,
        status: "open",
        balance: 40,
        originalAmount: 100,
        currencyCode: "USD",
      },
      payments: [{ paymentId: "P-1", appliedAmount: 60, shortPay: true }],
      otherDisputes: { openOnAccount: 2, openOnDocument: 1, endedOnDocument: 0 },
      resolutions: [{ code: "CREDIT", isValid: true }],
      notes: [],
      files: [],
    });
    expect(await packetOf(dispute.disputeId)).toEqual(packet);
  });

  verifies("IN-46");
  it("names what is missing to decide", async () => {
    const { missing } = await packetOf(dispute.disputeCode);
    expect(missing).toEqual([
      "no assignee",
      "no supporting file",
      "no note about the findings",
      "the disputed amount is larger than the document's balance",
      `possible duplicate of D-${NUMBER}-02: same document, amount, reason`,
    ]);
    const other = await packetOf("D-INV-8-01");
    expect(other.missing).toContain("the platform does not have the document");
    expect(other["document"]).toMatchObject({ available: false });
  });

  verifies("IN-46", "WK-22");
  it("has the newest ten notes whole, with their authors, and their total", async () => {
    const { admin, at: platform } = asking();
    const { disputeId } = await open({ documentNumber: "INV-9", amount: 1 });
    for (let note = 1; note <= 12; note += 1) {
      const body = { content: note === 12 ? "x".repeat(900) : `Note ${note}.` };
      await admin.call("POST", `${DISPUTES}/${disputeId}/disputenotes`, { body });
      platform.clock.advance(1000);
    }
    const packet = await packetOf(disputeId);
    expect(packet["notesTotal"]).toBe(12);
    expect(packet["leftOut"]).toEqual(["2 older notes: dispute_notes_list"]);
    expect(packet.notes).toHaveLength(10);
    expect(packet.notes[0]?.text).toHaveLength(900);
    expect(packet.notes[0]).not.toHaveProperty("cut");
    expect(packet.notes[1]).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/),
      by: expect.stringMatching(/^\p{L}+ \p{L}+/u),
      text: "Note 11.",
      visibility: "Internal",
    });
  });

  verifies("IN-46", "WK-22", "D-MCP-6");
  it("shortens older notes first, says which call reads them, and names what is left out", async () => {
    const { admin } = asking();
    const { disputeId } = await open({ documentNumber: "INV-11", amount: 1 });
    const path = `${DISPUTES}/${disputeId}`;
    for (let made = 0; made < 12; made += 1) {
      await admin.call("POST", `${path}/disputenotes`, {
        body: { content: "The carrier was called. ".repeat(60) },
      });
    }
    for (let made = 0; made < 6; made += 1) {
      const body = { fileName: `${made} Schriftstück.pdf` };
      const { status } = await admin.call("POST", `${path}/attachments`, { body });
      expect(status).toBe(201);
    }
    const { items, truncated } = await asking().ask("dispute_packet", { disputeId });
    const [packet] = items as [
      Packet & { files: { resource: string; attachmentId: string }[]; leftOut: string[] },
    ];
    expect(packet.files).toHaveLength(6);
    expect(packet.files[0]?.resource.endsWith(packet.files[0]?.attachmentId)).toBe(true);
    expect(packet.notes[0]?.text).toHaveLength(60 * 24);
    const { length } = packet.notes;
    expect(length).toBeGreaterThan(1);
    expect(packet.leftOut).toEqual([`${12 - length} older notes: dispute_notes_list`]);
    expect(packet.notes.at(-1)).toMatchObject({
      cut: true,
      read: expect.stringMatching(/^dispute_notes_get \{"disputeId":"[^"]+","noteId":"[^"]+"\}$/),
    });
    expect(truncated).toBe(false);
  });

  verifies("WK-22");
  it("has what was billed, credited and paid since, and notes of the account", async () => {
    const { at: platform, tenantId } = asking();
    const ingest = await platform.exportCaller(tenantId);
    const lineItems = Array.from({ length: 60 }, (_, line) => ({
      line_number: line + 1,
      product_code: `P-${line}`,
      description: "Pump with a valve and two seals",
      quantity: 2,
      unit_price: 1.5,
      amount: 3,
    }));
    const base = {
      account_number: "A-1",
      invoice_date: "2026-01-31",
      due_date: "2026-03-02",
      currency: "USD",
    };
    await ingest("PUT", documentAt("INV-12"), {
      body: {
        ...base,
        original_denomination: 200,
        denomination: 20,
        tax_amount: 14,
        freight_amount: 6,
        ship_to_address_city: "Utrecht",
        ship_to_address_country: "NL",
        line_items: lineItems,
      },
    });
    const { disputeCode } = await open({ documentNumber: "INV-12", amount: 30 });
    platform.clock.advance(2 * DAY);
    const today = new Date(platform.clock()).toISOString().slice(0, 10);
    await ingest("PUT", documentAt("CN-1"), {
      body: {
        ...base,
        invoice_date: today,
        document_type: "credit_note",
        applies_to_invoice: "INV-12",
        original_denomination: -30,
        denomination: -30,
      },
    });
    await load(platform, tenantId, "cashapp", [
      {
        id: "p-12",
        paymentId: "P-12",
        documentNumber: "INV-12",
        currencyCode: "USD",
        paymentDate: today,
        appliedAmount: 180,
      },
    ]);
    const packet = await packetOf(disputeCode);
    expect(packet["document"]).toMatchObject({
      taxAmount: 14,
      freightAmount: 6,
      shipTo: { city: "Utrecht", country: "NL" },
    });
    const { lineItems: shown } = packet["document"] as { lineItems: object[] };
    expect(shown.length).toBeGreaterThanOrEqual(5);
    expect(shown[0]).toMatchObject({ line: 1, product: "P-0", quantity: 2, amount: 3 });
    expect(packet["leftOut"]).toContain(`${60 - shown.length} line items: documents_get`);
    expect(packet["creditNotes"]).toMatchObject([{ documentNumber: "CN-1", date: today }]);
    expect(packet["settledBy"]).toMatchObject([
      { kind: "payment", paymentId: "P-12", amount: 180 },
      { kind: "credit note", documentNumber: "CN-1" },
    ]);
    expect(packet.missing).toContain(`payment P-12 of ${today} covers the disputed amount`);
  });

  it("is not settled by a payment that came back, or that is only suggested", async () => {
    const { at: platform, tenantId } = asking();
    const { disputeCode } = await open({ documentNumber: "INV-13", amount: 30 });
    const row = (id: string, appliedAmount: number, more: object = {}) => ({
      id,
      paymentId: id,
      documentNumber: "INV-13",
      currencyCode: "USD",
      paymentDate: new Date(platform.clock()).toISOString().slice(0, 10),
      appliedAmount,
      ...more,
    });
    await load(platform, tenantId, "cashapp", [
      row("b-1", 180),
      row("b-2", -180, { applicationStatus: "reversed" }),
      row("b-3", 90, { matchMethod: "suggested" }),
    ]);
    const packet = await packetOf(disputeCode);
    expect(packet).not.toHaveProperty("settledBy");
    expect(packet.missing).toContain("no payment is applied to the document");
    const shown = packet["payments"] as Record<string, unknown>[];
    expect(shown.map(({ paymentId, matchMethod }) => [paymentId, matchMethod])).toEqual([
      ["b-1", undefined],
      ["b-2", undefined],
      ["b-3", "suggested"],
    ]);
    await load(platform, tenantId, "cashapp", [row("b-4", 90)]);
    expect((await packetOf(disputeCode))["settledBy"]).toMatchObject([
      { kind: "payment", paymentId: "b-4" },
    ]);
  });

  verifies("WK-22");
  it("is not settled by payments that left the amount out, or while the document owes it", async () => {
    const { at: platform, tenantId } = asking();
    const ingest = await platform.exportCaller(tenantId);
    const day = new Date(platform.clock()).toISOString().slice(0, 10);
    const put = (denomination: number) =>
      ingest("PUT", documentAt("INV-15"), {
        body: {
          account_number: "A-1",
          invoice_date: day,
          due_date: day,
          currency: "USD",
          original_denomination: 200,
          denomination,
        },
      });
    const { disputeCode } = await open({ documentNumber: "INV-15", amount: 30 });
    const row = (id: string, more: object) => ({
      id,
      paymentId: id,
      documentNumber: "INV-15",
      currencyCode: "USD",
      paymentDate: day,
      appliedAmount: 85,
      ...more,
    });
    const settledBy = async (): Promise<unknown> => (await packetOf(disputeCode))["settledBy"];
    await load(platform, tenantId, "cashapp", [
      row("s-1", { deductionAmount: 30 }),
      row("s-2", { shortPay: true }),
    ]);
    await put(30);
    expect(await settledBy()).toBeUndefined();
    await load(platform, tenantId, "cashapp", [row("s-3", {})]);
    expect(await settledBy()).toBeUndefined();
    await put(0);
    expect(await settledBy()).toMatchObject([{ kind: "payment", paymentId: "s-3" }]);
  });

  it("says how many payments and credit notes it does not show", async () => {
    const { at: platform, tenantId } = asking();
    const ingest = await platform.exportCaller(tenantId);
    const { disputeCode } = await open({ documentNumber: "INV-14", amount: 30 });
    const rows = Array.from({ length: 21 }, (_, place) => ({
      id: `many-${place}`,
      paymentId: `many-${place}`,
      documentNumber: "INV-14",
      currencyCode: "USD",
      paymentDate: "2026-01-10",
      appliedAmount: 1,
    }));
    await load(platform, tenantId, "cashapp", rows);
    for (let number = 0; number < 11; number += 1) {
      const body = {
        account_number: "A-1",
        invoice_date: "2026-01-10",
        due_date: "2026-01-10",
        document_type: "credit_note",
        applies_to_invoice: "INV-14",
        currency: "USD",
        denomination: -1,
      };
      await ingest("PUT", documentAt(`CN-14-${number}`), { body });
    }
    const { notes } = await asking().ask("dispute_packet", { disputeId: disputeCode });
    expect(notes.join(" ")).toMatch(/payments: only 20 rows .* creditNotes: 10 of 11 are shown/);
  });

  verifies("IN-46", "IN-52");
  it("takes the number of a document with one dispute, and names several", async () => {
    expect(await packetOf("inv-8")).toMatchObject({ dispute: { disputeCode: "D-INV-8-01" } });
    expect(await packetOf("d-inv-8-01")).toMatchObject({ dispute: { documentNumber: "INV-8" } });
    expect(await asking().refused("dispute_packet", { disputeId: NUMBER })).toMatch(
      /The document has several: D-INV 7\/A-0[12], D-INV 7\/A-0[12]\./,
    );
  });

  verifies("IN-46");
  it("shows what became of ended disputes of the document", async () => {
    const { disputeId } = await open({ documentNumber: "INV-10", amount: 3 });
    const body = { status: 1, resolutionCode: "CREDIT" };
    await asking().admin.call("PUT", `${DISPUTES}/${disputeId}`, { body });
    const { disputeCode } = await open({ documentNumber: "INV-10", amount: 3 });
    const { otherDisputes, missing } = await packetOf(disputeCode);
    expect(otherDisputes).toMatchObject({ openOnDocument: 0, endedOnDocument: 1 });
    expect(otherDisputes.largest).toContainEqual(
      expect.objectContaining({ status: "Closed", resolutionCode: "CREDIT" }),
    );
    expect(missing.join()).not.toContain("possible duplicate");
  });

  it("says so if there is no such dispute", async () => {
    expect(await asking().refused("dispute_packet", { disputeId: "D-INV-404-01" })).toMatch(
      /^not_found: No dispute has the code or id "D-INV-404-01"\. Next: .*find_records/,
    );
  });
});
