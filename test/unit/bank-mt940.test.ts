import { describe, expect, it } from "vitest";
import { readMt940 } from "../../src/platform/import/bank/mt940.ts";
import { mt940 } from "../support/bank-files.ts";
import { readBank } from "../support/bank-reading.ts";
import { verifies } from "../support/verifies.ts";

const read = (text: string, options = {}) => readBank(readMt940, text, options);

const CREDIT = ":61:2603300330CR119,00NTRFNONREF//BANK-1";

describe("MT940", () => {
  verifies("MN-17", "MN-16");
  it("reads the smallest statement", async () => {
    const { entries, warnings } = await read(
      mt940([":61:2603300330C50,00NTRFNONREF", ":86:166?20INV-1"], { closing: "1050,00" }),
    );
    expect(entries).toMatchObject([
      {
        amount: "50.00",
        currency: "EUR",
        day: "2026-03-30",
        account: "DE89370400440532013000",
        bankReferences: [],
        payments: [{ cells: { paymentMethod: "ach", remittanceText: "INV-1" }, references: [] }],
      },
    ]);
    expect(warnings).toEqual([]);
  });

  verifies("MN-17");
  it.each([
    ["an amount without a digit before its comma", "C,50NTRFNONREF", "1000,50", "0.50"],
    ["an amount without a digit behind it", "CR7,NTRFNONREF", "1007,", "7.00"],
  ])("reads %s", async (_, written, closing, amount) => {
    const { entries } = await read(mt940([`:61:2603300330${written}`], { closing }));
    expect(entries).toMatchObject([{ amount }]);
  });

  it("refuses an amount without a digit", async () => {
    const text = mt940([":61:2603300330C,NTRFNONREF"], { closing: "1000,00" });
    await expect(read(text)).rejects.toThrow("is not a readable field :61:");
  });

  it("passes over a dash between the fields of a statement, which still needs its balance", async () => {
    const text = mt940(["-", CREDIT], { closing: "1119,00" });
    expect((await read(text)).entries).toMatchObject([{ amount: "119.00" }]);
    const cut = text.slice(0, text.indexOf(":62F:"));
    await expect(read(`${cut}-\r\n`)).rejects.toThrow("has no closing balance");
  });

  verifies("MN-13");
  it("reads codes of :86: that share a slash", async () => {
    const { payments } = await read(
      mt940([CREDIT, ":86:/ORDP/NAME/Åkesson & Söner AB/REMI/USTD/Faktura 77/EREF/E-9"], {
        closing: "1119,00",
      }),
    );
    expect(payments).toMatchObject([
      { cells: { payerName: "Åkesson & Söner AB" }, references: ["E-9", "BANK-1"] },
    ]);
  });

  verifies("MN-12");
  it.each([
    ["37040044/0532013000EUR", "DE89370400440532013000"],
    ["37040044/532013000", "DE89370400440532013000"],
    ["COBADEFFXXX/DE89370400440532013000", "DE89370400440532013000"],
    ["NL91 ABNA 0417 1643 00 EUR", "NL91ABNA0417164300"],
    ["NL00ABNA0417164300", "NL00ABNA0417164300"],
    ["0123-456789.01", "0123-456789.01"],
  ])("names the account %s as other messages do", async (written, account) => {
    const text = mt940([CREDIT], { account: written, closing: "1119,00" });
    expect((await read(text)).entries[0]?.account).toBe(account);
  });

  verifies("MN-13");
  it("reads the subfields of German banks, wrapped lines joined", async () => {
    const { payments } = await read(
      mt940(
        [
          CREDIT,
          ":86:166?00GUTSCHRIFT?20EREF+E2E-77?21MREF+M-1?22SVWZ+INV-2001 Rechnung",
          " vom 1.3.?30COBADEFFXXX?31DE02120300000000202051?32Bau Meier?33GmbH",
        ],
        { closing: "1119,00" },
      ),
      { size: 5 },
    );
    expect(payments).toMatchObject([
      {
        cells: {
          payerName: "Bau Meier GmbH",
          payerAccountLast4: "2051",
          paymentReference: "E2E-77",
          remittanceText: "GUTSCHRIFT / EREF+E2E-77 MREF+M-1 SVWZ+INV-2001 Rechnung vom 1.3.",
        },
        references: ["E2E-77", "BANK-1", "M-1"],
      },
    ]);
  });

  it("separates codes that begin a line behind a full one, and passes over a reference that is only a code", async () => {
    const lines = [
      ":61:260330C119,NTRFKREF+",
      ":86:166?00GUTSCHRIFT?20EREF+1234567890123456789012?21SVWZ+INV-2001 Rechnung vom ?221.3.?32PAYER",
    ];
    const { payments } = await read(mt940(lines, { closing: "1119," }));
    expect(payments).toMatchObject([
      {
        cells: {
          paymentReference: "1234567890123456789012",
          remittanceText:
            "GUTSCHRIFT / EREF+1234567890123456789012 SVWZ+INV-2001 Rechnung vom 1.3.",
        },
        references: ["1234567890123456789012"],
      },
    ]);
  });

  it("reads slash codes and structured references", async () => {
    const slashes = [
      CREDIT,
      ":86:/TRTP/SEPA/IBAN/NL56AGDH9619008421/BIC/AGDHNL2A/NAME/Payer BV/REM",
      "I/STRD/CUR/RF18539007547034/EREF/E-700",
    ];
    const { payments } = await read(mt940(slashes, { closing: "1119," }));
    expect(payments).toMatchObject([
      {
        cells: {
          payerName: "Payer BV",
          payerAccountLast4: "8421",
          remittanceId: "RF18539007547034",
        },
        references: ["E-700", "BANK-1", "RF18539007547034"],
        remittances: [{ cells: { invoiceNumber: "RF18539007547034" } }],
      },
    ]);
    expect(String(payments[0]?.cells["remittanceText"])).not.toContain("NL56");
  });

  verifies("MN-10");
  it.each([
    [
      "a returned direct debit",
      ":61:260330D5,NRTINONREF",
      ":86:109?00RUECK?20EREF+E-5",
      "-5.00",
      "109 RUECK",
    ],
    ["a reversed credit", ":61:260330RC5,NTRFREF9//B9", ":86:text", "-5.00", "reversal"],
    ["a return code", ":61:260330D5,NTRFX", ":86:/RTRN/AC04/REMI/x", "-5.00", "AC04"],
  ])("reads %s as a return", async (_title, line, text, amount, reason) => {
    const { entries, payments } = await read(mt940([line, text], { closing: "995,00" }));
    expect(entries.map((entry) => entry.amount)).toEqual([amount]);
    expect(payments[0]?.returned?.reason).toContain(reason);
    expect(payments[0]?.cells["applicationStatus"]).toBe("reversed");
  });

  it.each([
    ["interest", ":61:260330C5,NINTNONREF", "1005,", "5.00", "Interest"],
    ["a reversed debit", ":61:260330RD5,NTRFNONREF", "1005,", "5.00", "own (reversal of a debit)"],
    ["a transfer of cash management", ":61:260330C5,NCMZNONREF", "1005,", "5.00", "own accounts"],
    ["a debit", ":61:260330D5,NTRFNONREF", "995,", "-5.00", "a debit"],
    ["an expected credit", ":61:260330EC5,NTRFNONREF", "1000,", "0.00", "expected"],
  ])("leaves out %s by name", async (_title, line, closing, amount, reason) => {
    const { entries, leftOut } = await read(mt940([line], { closing }));
    expect(entries).toEqual([]);
    expect(leftOut).toMatchObject([
      { leftOut: { amount, reason: expect.stringContaining(reason) } },
    ]);
  });

  it("takes types that a map names", async () => {
    const text = mt940([":61:260330C5,NINTNONREF"], { closing: "1005," });
    expect((await read(text, { options: { take: ["INT"] } })).entries).toHaveLength(1);
  });

  verifies("MN-15");
  it("refuses balances that movements do not explain, with both figures", async () => {
    await expect(read(mt940([CREDIT], { closing: "1100,00" }))).rejects.toThrow(
      "closing balance 1100.00, but opening balance and movements make 1119.00",
    );
    const cut = mt940([CREDIT], { closing: "1119,00" }).replace(/:62F:[^]*/, "");
    await expect(read(cut)).rejects.toThrow("has no closing balance");
  });

  verifies("MN-15");
  it("refuses a file that ends within a message, wherever it is cut", async () => {
    const first = mt940([CREDIT], { closing: "1119,00" });
    const second = mt940([CREDIT], { closing: "1119,00", reference: "NEXT" });
    for (let length = 1; length <= second.lastIndexOf(",00"); length += 1) {
      const cut = first + second.slice(0, length);
      await expect(read(cut), JSON.stringify(second.slice(0, length))).rejects.toThrow();
    }
    const envelope = "{1:F01BANKDEFFAXXX0000000000}{2:I940COMPDEFFXXXXN}{4:\r\n";
    const enveloped = envelope + first.replace(/-\r\n$/, "-}");
    for (let length = 4; length <= envelope.length; length += 1) {
      const cut = enveloped + envelope.slice(0, length);
      await expect(read(cut), envelope.slice(0, length)).rejects.toThrow("no text block");
    }
    expect((await read(enveloped + enveloped)).entries).toHaveLength(2);
  });

  verifies("MN-15");
  it("refuses pages of a statement of which one between them is missing, with both balances", async () => {
    const page = (number: number, opening: string, closing: string): string =>
      [
        `:20:REF`,
        ":25:12345",
        `:28C:7/${number}`,
        `:60${number === 1 ? "F" : "M"}:C260227EUR${opening}`,
        ":61:2602270227C5,00NTRFNONREF",
        `:62${number === 3 ? "F" : "M"}:C260227EUR${closing}`,
        "-\n",
      ].join("\n");
    const all = [page(1, "0,", "5,"), page(2, "5,", "10,"), page(3, "10,", "15,")];
    expect((await read(all.join(""))).entries).toHaveLength(3);
    await expect(read(`${all[0]}${all[2]}`)).rejects.toThrow(
      "opens a page with 10.00 EUR, but the page before it closed with 5.00 EUR",
    );
    // The other pages can be in another file.
    expect((await read(`${all[2]}`)).entries).toHaveLength(1);
    const other = `${all[2]}`.replace(":25:12345", ":25:999");
    expect((await read(`${all[0]}${other}`)).entries).toHaveLength(2);
  });

  it("reads several messages with envelopes, and keeps the statement's own :86: apart", async () => {
    const message = mt940([CREDIT, ":86:first"], { closing: "1119,00" }).replace(
      /-\r\n$/,
      ":86:about the statement\r\n-}",
    );
    const one = `{1:F01BANKDEFFAXXX0000000000}{2:I940COMPDEFFXXXXN}{4:\r\n${message}`;
    const { payments, entries } = await read(`${one}${one.replace("STATEMENT", "OTHER")}`);
    expect(payments.map(({ cells }) => cells["remittanceText"])).toEqual(["first", "first"]);
    expect(new Set(entries.map(({ message: { identity } }) => identity[0])).size).toBe(2);
  });

  it.each([
    [":20:X\n:25:1\n:28C:1\n:34F:EUR0,\n", "line 4 is the field :34F: of an MT942"],
    ["{1:F01X}{2:O1031200}{4:\n:20:X\n-}", "MT103"],
    ["a,b\n1,2\n", "without an MT940 message"],
    [mt940([":61:2603C5,NTRFX"]), "not a readable field :61:"],
  ])("refuses %j by name", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
});
