import { describe, expect, it } from "vitest";
import { csv, readTable, suggest } from "../support/import-tables.ts";
import { UNKNOWN_FILES } from "../support/unknown-files.ts";
import { UNKNOWN_SHEETS } from "../support/unknown-sheets.ts";
import { verifies } from "../support/verifies.ts";

describe("a suggested map", () => {
  verifies("MN-22", "MN-21");
  it.each([...UNKNOWN_FILES, ...UNKNOWN_SHEETS])(
    "reads %s for %s",
    async (_title, kind, make, { records, first, last, leftOut = [] }) => {
      const file = await make();
      const found = await suggest(kind, file, "EUR");
      const read = await readTable(kind, file, found.map);
      expect(read.refused).toEqual([]);
      expect(read.records).toHaveLength(records);
      expect(read.records[0]).toMatchObject(first);
      if (last !== undefined) expect(read.records.at(-1)).toMatchObject(last);
      expect(read.leftOut).toEqual(leftOut);
      expect(found.preview.length).toBe(Math.min(5, records + leftOut.length));
    },
  );

  it("knows the counterpart of a sign that no row has", async () => {
    const file = csv("Date,Ref,Amount,DC,Currency\n2026-02-13,a1,10.00,Cr,USD\n");
    const { map } = await suggest("cashapp", file);
    expect(map["paymentAmount"]).toEqual({
      column: "Amount",
      signFrom: { column: "DC", negative: ["Dr"], positive: ["Cr"] },
    });
  });

  it("names what it could not find and what it assumed", async () => {
    const file = csv("Datum;Text;Betrag\n01.02.2026;x;1.000\n");
    const { map, notes, preview } = await suggest("cashapp", file);
    expect(map).not.toHaveProperty("currencyCode");
    expect(preview).toEqual([]);
    expect(notes.join("\n")).toMatch(/No column was found for currencyCode/);
    expect(notes.join("\n")).toMatch(/can be read with "\." or with ","/);
  });

  it("says that dates can be read in two orders", async () => {
    const file = csv(
      "Payment No,Date,Amount,Currency\n1,03/02/2026,1.00,GBP\n2,03/02/2026,1.00,GBP\n",
    );
    const { notes } = await suggest("cashapp", file);
    expect(notes.join("\n")).toMatch(/with the day or the month first; the day first is proposed/);
  });

  verifies("MN-22");
  it("reads the status of payments of a portal, and says where it cannot", async () => {
    const rows = ["X1,INV-1,10.00,USD,2026-02-28,Paid", "X2,INV-2,20.00,USD,2026-02-28,Declined"];
    const header = "Payment ID,Invoice Number,Amount Paid,Currency,Payment Date,Status";
    const file = csv([header, ...rows].join("\n"));
    const { map } = await suggest("iandp", file);
    const { records } = await readTable("iandp", file, map);
    expect(records.map(({ paymentStatus }) => paymentStatus)).toEqual(["settled", "failed"]);
    const { notes } = await suggest("cashapp", file);
    expect(notes.join("\n")).toMatch(/Rows count as paid, whatever Status says/);
  });

  verifies("MN-22");
  it("says whether amounts below zero are taken as debits or as returns", async () => {
    const list = csv("Date,Text,Amount,Currency\n2026-02-28,A,1.00,USD\n2026-02-28,B,-1.00,USD\n");
    expect((await suggest("cashapp", list)).notes.join("\n")).toMatch(/below zero are debits/);
    const register = csv(
      "Check No,Date,Amount,Currency\n1,2026-02-28,1.00,USD\n2,2026-02-28,-1.00,USD\n",
    );
    expect((await suggest("cashapp", register)).notes.join("\n")).toMatch(/below zero are returns/);
  });

  verifies("MN-22", "MN-04");
  it("takes no repeated reference as the number of a payment", async () => {
    const file = csv(
      "Date,Reference,Amount,Currency\n2026-02-28,SALE,1.00,USD\n2026-02-28,SALE,1.00,USD\n",
    );
    const { map } = await suggest("cashapp", file);
    expect(map["paymentId"]).toEqual({ join: ["Date", "Amount", "Reference"] });
  });

  verifies("WK-48");
  it("reads a list of notes and one of people", async () => {
    const notes = csv("Claim No;Created;Author;Comment\nD-1-01;13.01.2026 08:30;J. Roe;called\n");
    const proposed = await suggest("notes", notes);
    expect((await readTable("notes", notes, proposed.map)).records).toEqual([
      { disputeCode: "D-1-01", createDate: "2026-01-13", createUser: "J. Roe", content: "called" },
    ]);
    const people = csv("Vorname,Nachname,E-Mail,Rolle\nJane,Roe,jane@acme.example,Viewer\n");
    const found = await suggest("users", people);
    expect(found.notes).toEqual([]);
    expect((await readTable("users", people, found.map)).records).toEqual([
      { firstName: "Jane", lastName: "Roe", email: "jane@acme.example", roles: "Viewer" },
    ]);
  });
});
