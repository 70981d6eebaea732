import { beforeAll, describe, expect, it } from "vitest";
import { bai2, camt053, edi820, entry, isa, transfer } from "../support/bank-files.ts";
import { createBankTenants } from "../support/bank-tenants.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("payments from banks", (at) => {
  const { fresh, bring, rows, total } = createBankTenants(at);

  beforeAll(fresh);

  describe("bai2", () => {
    verifies("D-QRY-7");
    it("imports detail credits only, in their currency's decimals, with their payment methods", async () => {
      await fresh();
      const { counts, warned } = await bring(
        "bai2",
        bai2(
          [
            { type: "115", cents: "450000", funds: "S,1,2,3", bank: "BNK", text: "LOCKBOX 5" },
            { type: "165", cents: "1", funds: "V,260301,", bank: "B2", customer: "C2" },
            { type: "195", cents: "007", funds: "D,2,0,5,1,2", customer: "C3", text: "a, b, c" },
            { type: "301", cents: "200", funds: "" },
            { type: "409", cents: "999" },
            { type: "099", cents: "999" },
          ],
          { currency: "JPY" },
        ),
      );
      expect(counts).toMatchObject({ read: 6, written: 4, rejected: 0, leftOut: 2 });
      expect(warned).toEqual([]);
      expect(
        await rows("paymentMethod", "paymentReference", "currencyCode", "paymentAmount"),
      ).toEqual(
        [
          ["lockbox", "BNK", 450_000],
          ["ach", "C2", 1],
          ["wire", "C3", 7],
          ["other", null, 200],
        ].map(([paymentMethod, paymentReference, paymentAmount]) => ({
          paymentMethod,
          paymentReference,
          currencyCode: "JPY",
          paymentAmount,
        })),
      );
      const [first] = await rows("paymentDate", "bankAccountLast4", "remittanceSource");
      expect(first).toEqual({
        paymentDate: "2026-02-28",
        bankAccountLast4: "3445",
        remittanceSource: "bai2",
      });
    });

    it("reads continuations, several records on a line and cents; warns about a lost line", async () => {
      await fresh();
      const { counts, warned } = await bring(
        "bai2",
        bai2([
          "16,142,12345,Z,REF/",
          "88,CUST,more text",
          "16,142,100,Z,A,,X/   16,142,200,Z,B,,Y/",
          "16,142,300,Z,C,,text that breaks",
          "off here without a record /",
          "88,and goes on/",
        ]),
      );
      expect(counts).toMatchObject({ read: 4, written: 4 });
      expect(warned).toEqual([
        "line 8 is not a record and is ignored as an unreadable continuation",
      ]);
      expect(await rows("paymentAmount", "paymentReference")).toEqual([
        { paymentAmount: 123.45, paymentReference: "CUST" },
        { paymentAmount: 1, paymentReference: "A" },
        { paymentAmount: 2, paymentReference: "B" },
        { paymentAmount: 3, paymentReference: "C" },
      ]);
    });

    it("imports equal credits of a file separately; a second import changes nothing", async () => {
      await fresh();
      const same = { cents: "500", bank: "R" };
      const file = bai2([same, same, { cents: "700", bank: "R" }, same]);
      expect((await bring("bai2", file)).counts).toMatchObject({ written: 4 });
      const before = await rows("id", "updatedAt");
      expect(new Set(before.map(({ id }) => id)).size).toBe(4);
      expect(await total()).toMatchObject({ payments: 4, paymentAmount: 22, unappliedAmount: 22 });
      at().clock.advance(60_000);
      expect((await bring("bai2", file)).counts).toMatchObject({ written: 0, unchanged: 4 });
      expect(await rows("id", "updatedAt")).toEqual(before);
    });

    const broken: [title: string, text: string, words: string][] = [
      ["no 01 record", bai2([]).split("\n").slice(1).join("\n"), "line 1"],
      ["no end", bai2([{ cents: "1" }]).replace(/99,.*\n/, ""), "no closing 99 record"],
      ["no account", bai2([{ cents: "1" }]).replace(/03,.*\n/, ""), "line 3"],
      ["a strange kind of funds", bai2([{ cents: "1", funds: "Q" }]), "line 4"],
      ["no amount", bai2([{ cents: "x" }]), "line 4"],
      ["no date", bai2([]).replace("260228", "269999"), "line 2"],
      ["another format", "a,b\n1,2\n", "line 1"],
    ];
    it.each(broken)(
      "refuses a file with %s, and writes nothing of it",
      async (_title, text, words) => {
        await fresh();
        await expect(bring("bai2", text)).rejects.toThrow(words);
        expect(await rows("id")).toEqual([]);
      },
    );
  });

  describe("edi820", () => {
    const REMITTED = [
      "N1*PR*ACME CORP",
      "ENT*1",
      "RMR*IV*INV-1**1000*1200",
      "ADX*-200*52",
      "RMR*IV*INV-2**500.75",
    ];

    verifies("D-QRY-7");
    it("imports each remittance as a row of its payment", async () => {
      await fresh();
      const { counts } = await bring("edi820", edi820(REMITTED));
      expect(counts).toMatchObject({ read: 2, written: 2 });
      const shared = {
        paymentDate: "2026-02-28",
        paymentMethod: "ach",
        paymentReference: "TRACE-77",
        payerName: "ACME CORP",
        paymentAmount: 1500.75,
        applicationStatus: "unapplied",
        shortPay: false,
      };
      const names = [
        ...Object.keys(shared),
        "invoiceNumber",
        "appliedAmount",
        "invoiceAmount",
        "deductionAmount",
      ];
      expect(await rows(...names)).toEqual([
        {
          ...shared,
          invoiceNumber: "INV-1",
          appliedAmount: 0,
          invoiceAmount: 1200,
          deductionAmount: 200,
        },
        {
          ...shared,
          invoiceNumber: "INV-2",
          appliedAmount: 0,
          invoiceAmount: null,
          deductionAmount: null,
        },
      ]);
      expect((await bring("edi820", edi820(REMITTED))).counts).toMatchObject({ unchanged: 2 });
      const odd = edi820(REMITTED).replace("*ACH*", "*constructor*");
      expect((await bring("edi820", odd)).counts).toMatchObject({ written: 2 });
      const other = { paymentMethod: "other" };
      expect(await rows("paymentMethod")).toEqual([other, other]);
    });

    it("reads any separators, the older layout, text before it and a short ISA", async () => {
      await fresh();
      const old = [
        "Remittance as of today",
        "ISA*00**00**16*A*16*B*260301*0600*U*00300*000000001*0*P*@",
        "GS*RA*A*B*260301*0600*1*X*003010",
        "ST*820*0001",
        "BPS*PBC*30*I********778899*260228",
        "RMT*IV*7001*10*10",
        "RMT*IX*part*1*1",
        "RMT*IV*7002*20",
        "SE*6*0001",
        "GE*1*1",
        "IEA*1*000000001",
      ].join("\n");
      const { counts, warned } = await bring("edi820", old);
      expect(counts).toMatchObject({ read: 2, written: 2 });
      expect(warned).toEqual([
        "segment 1 has text before it, which is passed over",
        "segment 1 has 58 characters where ISA has 106",
      ]);
      expect(
        await rows("invoiceNumber", "appliedAmount", "paymentReference", "paymentDate"),
      ).toEqual(
        [
          { invoiceNumber: "7001", appliedAmount: 0 },
          { invoiceNumber: "7002", appliedAmount: 0 },
        ].map((row) => ({ ...row, paymentReference: "778899", paymentDate: "2026-02-28" })),
      );
      const lined = edi820(REMITTED, { terminator: "'" }).replaceAll("'", "'\r\n");
      expect((await bring("edi820", lined)).counts).toMatchObject({ written: 2 });
    });

    const whole = edi820(REMITTED);
    const broken: [title: string, text: string, words: string][] = [
      ["no ISA", "GS*RA~ST*820*1~", "no ISA"],
      ["its end cut off", whole.slice(0, -30), "no IEA"],
      ["an amount that is none", whole.replace("**1000*", "**1,000*"), "segment 8 has no amount"],
      ["a set in a set", whole.replace("ENT*1", "ST*820*0002"), "segment 7 is ST"],
      ["a segment outside", whole.replace("ST*820*0001~", ""), "is outside a transaction set"],
      ["an ISA alone", isa(), "no IEA"],
    ];
    it.each(broken)(
      "refuses a file with %s, and writes nothing of it",
      async (_title, text, words) => {
        await fresh();
        await expect(bring("edi820", text)).rejects.toThrow(words);
        expect(await rows("id")).toEqual([]);
      },
    );
  });

  describe("camt", () => {
    verifies("D-QRY-7");
    it("imports booked credits, a row for each document that they refer to", async () => {
      await fresh();
      const file = camt053([
        entry({
          amount: "60",
          details: [
            transfer({
              id: "E1",
              amount: "10.5",
              documents: [
                { number: "R-1", share: "4" },
                { number: "R-2", share: "6.5" },
              ],
            }),
            transfer({ id: "E2", amount: "49.5" }),
          ],
        }),
        entry({ amount: "12.34", details: [transfer({ id: "E4" })] }),
        entry({ amount: "5", reversal: true }),
        entry({ amount: "1", sign: "DBIT" }),
        entry({ amount: "2", status: "PDNG" }),
      ]);
      const { counts } = await bring("camt", file);
      expect(counts).toMatchObject({ read: 7, written: 4, leftOut: 3 });
      const found = await rows(
        "paymentReference",
        "invoiceNumber",
        "paymentAmount",
        "unappliedAmount",
        "applicationStatus",
      );
      expect(found.map((row) => Object.values(row))).toEqual([
        ["E1", "R-1", 10.5, 10.5, "unapplied"],
        ["E1", "R-2", 10.5, 10.5, "unapplied"],
        ["E2", null, 49.5, 49.5, "unapplied"],
        ["E4", null, 12.34, 12.34, "unapplied"],
      ]);
      const [first] = await rows(
        "paymentDate",
        "payerName",
        "payerAccountLast4",
        "bankAccountLast4",
        "currencyCode",
      );
      expect(first).toEqual({
        paymentDate: "2026-02-28",
        payerName: "Muster GmbH",
        payerAccountLast4: "2051",
        bankAccountLast4: "3000",
        currencyCode: "EUR",
      });
      expect((await bring("camt", file)).counts).toMatchObject({ written: 0, unchanged: 4 });
    });

    it("reads prefixed names and another encoding, and takes a batch without amounts as one payment", async () => {
      await fresh();
      const file = camt053([entry({ details: [transfer({ payer: "M\u00FCller" })] })], "n");
      const latin = Buffer.from(file.replace("UTF-8", "ISO-8859-1"), "latin1");
      expect((await bring("camt", latin)).counts).toMatchObject({ written: 1 });
      expect(await rows("payerName")).toEqual([{ payerName: "M\u00FCller" }]);
      const two = camt053([entry({ details: [transfer({ id: "A" }), transfer({ id: "B" })] })]);
      const { counts, warned } = await bring("camt", two);
      expect(counts).toMatchObject({ read: 1, rejected: 0 });
      expect(warned).toHaveLength(1);
    });

    const whole = camt053([entry({})]);
    const broken: [title: string, text: string | Buffer, words: string][] = [
      ["a lost end", whole.slice(0, -20), "is the last line"],
      ["a wrong end", whole.replace("</Ntry>", "</Stmt>"), "line 4"],
      [
        "a document type",
        whole.replace("<Document", '<!DOCTYPE d [<!ENTITY a "b">]><Document'),
        "not well-formed",
      ],
      ["an entity of its own", whole.replace("SVC-1", "&a;"), "not well-formed"],
      ["no amount", whole.replace("100.00", "1,0"), "has no amount"],
      ["another message", "<Document><Other/></Document>", "does not begin one of the messages"],
      [
        "text that is not UTF-8 as a whole",
        Buffer.concat([
          Buffer.from(whole.replace("SVC-1", "\u00E9")),
          Buffer.from("\n\u00E9", "latin1"),
        ]),
        "encoding",
      ],
      ["nothing in it", "", "does not begin one of the messages"],
    ];
    it.each(broken)(
      "refuses a file with %s, and writes nothing of it",
      async (_title, text, words) => {
        await fresh();
        await expect(bring("camt", text)).rejects.toThrow(words);
        expect(await rows("id")).toEqual([]);
      },
    );
  });
});
