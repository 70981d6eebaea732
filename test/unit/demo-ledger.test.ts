import { describe, expect, it } from "vitest";
import { AccountFields } from "../../src/contract/operations/accounts.ts";
import { StoredDocument } from "../../src/contract/operations/documents.ts";
import { DAY } from "../../src/kit/clock.ts";
import { sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { move } from "../../src/platform/services/documents/status.ts";
import type { DocumentRow } from "../../src/platform/store/tables/schema.ts";
import { demoAt, type DemoRows } from "../support/demo.ts";

const NOW = Date.parse("2026-11-21T08:00:00Z");

const demo = await demoAt(NOW);
const fieldsOf = ({ fields }: DocumentRow): StoredDocument =>
  StoredDocument.parse(JSON.parse(fields));
const papers = demo.documents.map((row) => ({ row, fields: fieldsOf(row) }));
type Paper = (typeof papers)[number];
const byNumber = new Map(papers.map((paper) => [paper.row.document_number, paper]));
const invoices = papers.filter(({ fields }) => fields.document_type === "invoice");
const accounts = new Map(demo.accounts.map((row) => [row.account_number, row]));
const closures = new Map(demo.document_closures.map((row) => [row.document_number, row]));
const cents = (amount: number | undefined): number => Math.round((amount ?? Number.NaN) * 100);

const documentOf = (number: string): Paper => {
  const paper = byNumber.get(number);
  if (paper === undefined) throw new Error(`there is no document ${number}`);
  return paper;
};

describe("the demo tenant's accounts", () => {
  it("are a hundred that fit the contract, in three currencies and more places", () => {
    expect(demo.accounts).toHaveLength(100);
    expect(accounts.size).toBe(100);
    expect(new Set(demo.accounts.map(({ name }) => name)).size).toBe(100);
    const places = new Set<string | undefined>();
    const streets = new Set<string | undefined>();
    for (const { fields, name, currency } of demo.accounts) {
      const sent: unknown = JSON.parse(fields);
      const kept = AccountFields.parse(sent);
      expect(kept).toEqual(sent);
      expect([kept.name, kept.currency]).toEqual([name, currency]);
      places.add(kept.billing_address?.country);
      streets.add(kept.billing_address?.address1);
      expect(kept.email).toMatch(/^ap@[a-z0-9-]+\.example$/);
    }
    expect(places.size).toBe(9);
    expect(streets.size).toBe(100);
  });

  it("have branches whose parent has the same currency and no parent itself", () => {
    const branches = demo.accounts.filter((row) => row.parent_account_number !== null);
    expect(branches).toHaveLength(40);
    for (const { parent_account_number, currency, name } of branches) {
      const parent = accounts.get(parent_account_number ?? "");
      expect(parent).toMatchObject({ currency, parent_account_number: null });
      expect(name.startsWith(parent?.name ?? "?")).toBe(true);
    }
  });

  it("have notes in the order of their dates", () => {
    expect(demo.account_notes.length).toBeGreaterThan(50);
    expect(new Set(demo.account_notes.map(({ reference }) => reference)).size).toBe(
      demo.account_notes.length,
    );
    for (const note of demo.account_notes) {
      expect(accounts.has(note.account_number)).toBe(true);
      expect(note.effective_at).toBeLessThan(NOW);
      expect(Date.parse(note.effective_date)).toBe(note.effective_at);
      expect(note.body).not.toMatch(/[{}]|undefined/);
    }
  });
});

describe("the demo tenant's documents", () => {
  it("are 2,000 of existing accounts, in their currency", () => {
    expect(papers).toHaveLength(2000);
    expect(byNumber.size).toBe(2000);
    for (const { row, fields } of papers) {
      const account = accounts.get(row.account_number);
      expect(account?.currency).toBe(fields.currency);
      expect([row.currency, row.account_number]).toEqual([fields.currency, fields.account_number]);
    }
    expect(demo.documents.map(({ csr_id }) => csr_id)).toEqual(
      demo.documents.map((_row, place) => place + 1),
    );
    expect(demo.csr_sequences).toEqual([
      { tenant_id: "demo", noun: "account", last: 100 },
      { tenant_id: "demo", noun: "document", last: 2000 },
    ]);
  });

  it("add up: lines, freight and tax are the billed amount", () => {
    for (const { fields } of invoices) {
      const lines = fields.line_items ?? [];
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) {
        expect(cents(line.amount)).toBe(cents((line.quantity ?? 0) * (line.unit_price ?? 0)));
      }
      const parts = [
        ...lines.map(({ amount }) => cents(amount)),
        cents(fields.freight_amount ?? 0),
        cents(fields.tax_amount ?? 0),
      ];
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(cents(fields.original_denomination));
    }
  });

  it("have consistent open amounts and statuses", () => {
    for (const { row, fields } of papers) {
      const [was, left] = [cents(fields.original_denomination), cents(fields.denomination)];
      expect(Math.abs(left)).toBeLessThanOrEqual(Math.abs(was));
      expect(left === 0 || Math.sign(left) === Math.sign(was)).toBe(true);
      const closure = closures.get(row.document_number);
      const moved = move(undefined, { sent: fields, result: fields });
      expect(row.status === "closed").toBe(closure !== undefined);
      if (closure?.closure_reason == null) expect(row.status).toBe(moved.status);
      else expect([moved.status, closure.source]).toEqual(["open", "import"]);
    }
  });

  it("have their dates in order", () => {
    for (const { row, fields } of papers) {
      expect(Date.parse(fields.due_date)).toBeGreaterThanOrEqual(Date.parse(fields.invoice_date));
      expect(row.created_at).toBeGreaterThanOrEqual(Date.parse(fields.invoice_date));
      expect(row.updated_at).toBeGreaterThanOrEqual(row.created_at);
      expect(row.updated_at).toBeLessThan(NOW);
      expect([0, 6]).not.toContain(new Date(fields.invoice_date).getUTCDay());
      const closure = closures.get(row.document_number);
      if (closure === undefined) continue;
      expect(closure.closed_at).toBeGreaterThanOrEqual(row.created_at);
      expect(closure.closed_at).toBe(row.updated_at);
    }
  });

  it("have credit notes on invoices of the same account, which reduce the invoice", () => {
    const credits = papers.filter(({ fields }) => fields.document_type === "credit_note");
    expect(credits.length).toBeGreaterThan(80);
    expect(credits.filter(({ row }) => row.status === "open").length).toBeGreaterThan(9);
    for (const { fields, row } of credits) {
      const invoice = documentOf(fields.applies_to_invoice ?? "");
      expect(invoice.row.account_number).toBe(row.account_number);
      expect(row.created_at).toBeGreaterThan(invoice.row.created_at);
      expect(-cents(fields.original_denomination)).toBeLessThanOrEqual(
        cents(invoice.fields.original_denomination),
      );
    }
  });

  it("have a realistic age structure: most are not due yet, some are long overdue", () => {
    const overdue = invoices
      .filter(({ row }) => row.status === "open")
      .map(({ fields }) => (NOW - Date.parse(fields.due_date)) / DAY);
    const share = (from: number, to: number) =>
      overdue.filter((days) => days > from && days <= to).length / overdue.length;
    expect(overdue.length).toBeGreaterThan(300);
    expect(share(-Infinity, 0)).toBeGreaterThan(0.45);
    for (const [from, to] of [
      [0, 30],
      [30, 60],
      [60, 90],
      [90, 400],
    ] as const) {
      expect(share(from, to)).toBeGreaterThan(0.03);
      expect(share(from, to)).toBeLessThan(0.3);
    }
  });

  it("belong mostly to few customers, and to each customer at least once", () => {
    const counts = [...Map.groupBy(invoices, ({ row }) => row.account_number).values()]
      .map(({ length }) => length)
      .toSorted((one, other) => other - one);
    expect(counts).toHaveLength(100);
    const first = counts.slice(0, 20).reduce((sum, count) => sum + count, 0);
    expect(first / invoices.length).toBeGreaterThan(0.4);
  });

  it("have short payments without a dispute", () => {
    const disputed = new Set(demo.disputes.map((row) => row.document_number));
    const short = invoices.filter(
      ({ row, fields }) =>
        row.status === "open" &&
        !disputed.has(row.document_number) &&
        cents(fields.denomination) < cents(fields.original_denomination),
    );
    expect(short.length).toBeGreaterThan(15);
  });

  it("are the same a week later, each a week later", async () => {
    const later = await demoAt(NOW + 7 * DAY);
    const story = (rows: DemoRows, shift: number) =>
      rows.documents.map((row) => {
        const { invoice_date, due_date, denomination, original_denomination, po_number } =
          fieldsOf(row);
        return [
          row.document_number,
          row.status,
          denomination,
          original_denomination,
          po_number,
          Date.parse(invoice_date) - shift,
          Date.parse(due_date) - shift,
        ];
      });
    expect(story(later, 7 * DAY)).toEqual(story(demo, 0));
  });
});

describe("the demo tenant's disputes", () => {
  it("are on existing documents, with their account, currency and purchase order", () => {
    for (const row of demo.disputes) {
      const { row: document, fields } = documentOf(row.document_number);
      expect(fields.document_type).toBe("invoice");
      expect(row.account_number).toBe(document.account_number);
      expect(row.account_name).toBe(accounts.get(row.account_number)?.name);
      expect(row.currency_code).toBe(document.currency);
      expect(row.po_number).toBe(fields.po_number ?? null);
      expect(row.created_at).toBeGreaterThan(Date.parse(fields.invoice_date));
    }
  });

  it("are at most over the open amount while open, else over the billed amount", () => {
    for (const row of demo.disputes) {
      const { row: document, fields } = documentOf(row.document_number);
      const most = row.status === 0 ? fields.denomination : fields.original_denomination;
      expect(cents(row.amount_order)).toBeLessThanOrEqual(cents(most));
      if (row.status === 0) expect(document.status).toBe("open");
    }
  });

  it("do not together claim more than the open amount, except for duplicates", () => {
    const open = demo.disputes.filter(({ status }) => status === 0);
    for (const [number, rows] of Map.groupBy(open, (row) => row.document_number)) {
      const claims = new Map(rows.map((row) => [`${row.amount} ${row.reason_id}`, row]));
      const sum = [...claims.values()].reduce((all, row) => all + cents(row.amount_order), 0);
      expect(sum).toBeLessThanOrEqual(cents(documentOf(number).fields.denomination));
    }
  });

  it("have led to the named credit note if they were granted", () => {
    const told = demo.dispute_notes.flatMap(({ content, dispute_id }) => {
      const number = /CM-\d+/.exec(content)?.[0];
      return number === undefined ? [] : [{ number, dispute_id }];
    });
    expect(told.length).toBeGreaterThan(15);
    for (const { number, dispute_id } of told) {
      const dispute = demo.disputes.find(({ id }) => id === dispute_id);
      const { fields } = documentOf(number);
      expect(fields.applies_to_invoice).toBe(dispute?.document_number);
      expect(-cents(fields.original_denomination)).toBeLessThanOrEqual(
        cents(dispute?.amount_order),
      );
    }
  });
});

describe("the demo tenant's notes", () => {
  it("vary: a few words, a sentence, a whole mail, several languages", () => {
    const lengths = demo.dispute_notes.map(({ content }) => content.length);
    expect(lengths.filter((length) => length < 40).length).toBeGreaterThan(30);
    expect(lengths.filter((length) => length > 250).length).toBeGreaterThan(5);
    const all = demo.dispute_notes.map(({ content }) => content).join("\n");
    for (const word of ["Gutschrift", "lvm for", "summary so that nobody"]) {
      expect(all).toContain(word);
    }
  });

  it("agree with the invoice and its customer about orders, lines and terms", () => {
    let seen = 0;
    for (const { content, dispute_id } of demo.dispute_notes) {
      const dispute = demo.disputes.find(({ id }) => id === dispute_id);
      const { fields } = documentOf(dispute?.document_number ?? "");
      const [, terms] = /Terms on file are ([^.]*?)(?:,|\.)/.exec(content) ?? [];
      if (terms !== undefined) expect(terms).toBe(fields.payment_terms?.toLowerCase());
      const [, days] = /\b(?:the|first) (\d+) days\b/.exec(content) ?? [];
      if (days !== undefined) expect(fields.payment_terms).toMatch(new RegExp(`^2% ${days},`));
      const [, line] = /\bline (\d+)/.exec(content) ?? [];
      if (line !== undefined)
        expect(Number(line)).toBeLessThanOrEqual(fields.line_items?.length ?? 0);
      const lacks = content.includes("no PO number");
      if (lacks) expect(fields.po_number).toBeUndefined();
      if (lacks || terms !== undefined || days !== undefined || line !== undefined) seen += 1;
    }
    expect(seen).toBeGreaterThan(20);
  });

  it("contain hostile text on open disputes, some of it invisible", () => {
    const hidden = demo.dispute_notes.filter(({ content }) => sanitizeText(content) !== content);
    const loud = demo.dispute_notes.filter(({ content }) =>
      /Ignore all previous|SYSTEM NOTICE/.test(content),
    );
    expect(hidden).toHaveLength(4);
    expect(loud).toHaveLength(2);
    for (const { dispute_id } of [...hidden, ...loud]) {
      expect(demo.disputes.find(({ id }) => id === dispute_id)?.status).toBe(0);
    }
  });
});
