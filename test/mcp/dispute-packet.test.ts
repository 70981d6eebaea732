import { beforeAll, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { CONFIGURATION, configure, DISPUTES, onEveryStore } from "../support/platform.ts";
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
      `D-${NUMBER}-02 has the same document and amount`,
    ]);
    const other = await packetOf("D-INV-8-01");
    expect(other.missing).toContain("the platform does not have the document");
    expect(other["document"]).toMatchObject({ available: false });
  });

  verifies("IN-46");
  it("has the newest ten notes, cut at 400 characters, and their total", async () => {
    const { admin, at: platform } = asking();
    const { disputeId } = await open({ documentNumber: "INV-9", amount: 1 });
    for (let note = 1; note <= 12; note += 1) {
      const body = { content: note === 12 ? "x".repeat(900) : `Note ${note}.` };
      await admin.call("POST", `${DISPUTES}/${disputeId}/disputenotes`, { body });
      platform.clock.advance(1000);
    }
    const packet = await packetOf(disputeId);
    expect(packet["notesTotal"]).toBe(12);
    expect(packet.notes).toHaveLength(10);
    expect(packet.notes[0]?.text).toHaveLength(400);
    expect(packet.notes[1]).toMatchObject({ text: "Note 11.", visibility: "Internal" });
  });

  verifies("IN-46", "D-MCP-6");
  it("shortens long notes and lists of files before resolutions, and says so", async () => {
    const { admin, ask } = asking();
    for (let code = 2; code <= 8; code += 1) {
      const body = { code: `CHOICE-${code}`, description: `Closing choice ${code}`, isValid: true };
      await admin.call("POST", `${CONFIGURATION}/resolutions`, { body });
    }
    const { disputeId } = await open({ documentNumber: "INV-11", amount: 1 });
    const path = `${DISPUTES}/${disputeId}`;
    for (let made = 0; made < 12; made += 1) {
      await admin.call("POST", `${path}/disputenotes`, { body: { content: "ürgü ".repeat(120) } });
    }
    for (let made = 0; made < 6; made += 1) {
      const body = { fileName: `${made} ${"Schriftstück ".repeat(14)}.pdf` };
      const { status } = await admin.call("POST", `${path}/attachments`, { body });
      expect(status).toBe(201);
    }
    const { items, notes, truncated } = await ask("dispute_packet", { disputeId });
    const [packet] = items as [Packet & { resolutions: object[]; files: { resource: string }[] }];
    expect(packet.resolutions).toHaveLength(8);
    expect(packet.files[0]?.resource).toMatch(/[0-9a-f]{12}$/);
    const said = notes.join(" ");
    for (const name of ["notes", "files"] as const) {
      const { length } = packet[name];
      const all = name === "notes" ? 10 : 6;
      expect(said.includes(`items[0].${name} has ${length} of ${all}`)).toBe(length < all);
    }
    expect(packet.notes.length).toBeLessThan(10);
    expect(packet.notes.length).toBeGreaterThan(0);
    expect(truncated).toBe(false);
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
    expect(missing.join()).not.toContain("same document and amount");
  });

  it("says so if there is no such dispute", async () => {
    expect(await asking().refused("dispute_packet", { disputeId: "D-INV-404-01" })).toMatch(
      /^not_found: No dispute has the code or id "D-INV-404-01"\. Next: .*find_records/,
    );
  });
});
