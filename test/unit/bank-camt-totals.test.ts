import { describe, expect, it } from "vitest";
import { readCamt } from "../../src/platform/import/bank/camt.ts";
import { camt053, camtEntry, camtStatement, entry, transfer } from "../support/bank-files.ts";
import { readBank } from "../support/bank-reading.ts";
import { verifies } from "../support/verifies.ts";

const read = (text: string, options = {}) => readBank(readCamt, text, options);

describe("camt totals, days and envelopes", () => {
  const two = [camtEntry({ amount: "100.00" }), camtEntry({ amount: "200.00" })].join("");
  const summary = (content: string): string => `<TxsSummry>${content}</TxsSummry>`;
  const credits = (number: string, sum: string): string =>
    summary(`<TtlCdtNtries><NbOfNtries>${number}</NbOfNtries><Sum>${sum}</Sum></TtlCdtNtries>`);

  verifies("MN-15");
  it("refuses sums that the entries do not have, and warns about numbers", async () => {
    await expect(read(camtStatement(credits("3", "600.00") + two))).rejects.toThrow(
      "names credits of 600.00 in 3 entries, but 2 entries add up to 300.00",
    );
    await expect(
      read(camtStatement(summary("<TtlNtries><NbOfNtries>3</NbOfNtries></TtlNtries>") + two)),
    ).rejects.toThrow("names 3 entries, but there are 2");
    const { entries, warnings } = await read(camtStatement(credits("3", "300.00") + two));
    expect(entries).toHaveLength(2);
    expect(warnings).toEqual(["line 1 names 3 credits, but there are 2"]);
  });

  it.each([
    ["<TtlNetNtryAmt>300</TtlNetNtryAmt><CdtDbtInd>CRDT</CdtDbtInd>", ""],
    ["<TtlNetNtry><Amt>300</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry>", ""],
    ["<TtlNetNtryAmt>300.00</TtlNetNtryAmt>", ""],
    ["<TtlNetNtryAmt>300</TtlNetNtryAmt><CdtDbtInd>DBIT</CdtDbtInd>", "300.00 DBIT"],
    ["<TtlNetNtry><Amt>250</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry>", "250.00 CRDT"],
  ])("compares the net sum %s", async (net, named) => {
    const reading = read(camtStatement(summary(`<TtlNtries>${net}</TtlNtries>`) + two));
    if (named === "") expect((await reading).entries).toHaveLength(2);
    else
      await expect(reading).rejects.toThrow(
        `names the net sum ${named}, but the entries make 300.00`,
      );
  });

  const balance = (code: string, amount: string): string =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-03-31T23:30:00-05:00</DtTm></Dt></Bal>`;

  verifies("MN-15");
  it("warns about balances that the entries do not explain", async () => {
    const opening = balance("OPBD", "10.00");
    const ends = (closing: string): string => opening + balance("CLBD", closing);
    expect((await read(camtStatement(ends("310.00") + two))).warnings).toEqual([]);
    const fault =
      "line 1 names the closing balance 311.00, but opening balance and entries make 310.00";
    expect((await read(camtStatement(ends("311.00") + two))).warnings).toEqual([fault]);
    // An entry that is not booked yet counts in some banks' balances.
    const pending = camtEntry({ amount: "1.00" }).replace("BOOK", "PDNG");
    expect((await read(camtStatement(ends("311.00") + two + pending))).warnings).toEqual([]);
    for (const last of ["false", "0"]) {
      const page = `<StmtPgntn><PgNb>1</PgNb><LastPgInd>${last}</LastPgInd></StmtPgntn>`;
      expect((await read(camtStatement(page + ends("311.00") + two))).warnings).toEqual([]);
    }
  });

  verifies("MN-16");
  it("takes the day as written: of the value, the booking, then the balance", async () => {
    const day = async (dates: string, before = "") =>
      (await read(camtStatement(before + camtEntry({ amount: "1", dates })))).entries[0]?.day;
    expect(await day("<ValDt><DtTm>2026-03-30T23:30:00-05:00</DtTm></ValDt>")).toBe("2026-03-30");
    expect(await day("<BookgDt><Dt>2026-03-29</Dt></BookgDt>")).toBe("2026-03-29");
    expect(await day("", balance("CLBD", "1"))).toBe("2026-03-31");
    await expect(day("")).rejects.toThrow("has no date");
    await expect(day("<ValDt><Dt>2026-02-30</Dt></ValDt>")).rejects.toThrow("2026-02-30");
  });

  verifies("MN-17");
  it.each([
    ["camt.052", "BkToCstmrAcctRpt", "Rpt", "052.001.13"],
    ["camt.053", "BkToCstmrStmt", "Stmt", "053.001.02"],
    ["camt.054", "BkToCstmrDbtCdtNtfctn", "Ntfctn", "054.001.08"],
  ])("reads %s in envelopes, several in a file", async (kind, message, statement, version) => {
    const one = camtStatement(camtEntry({ amount: "1.00" }), { message, statement, version });
    const envelope = `<?xml version="1.0"?>\n<s:Envelope xmlns:s="x"><s:Body><BizMsgEnvlp><AppHdr><BizMsgIdr>B</BizMsgIdr></AppHdr>${one}</BizMsgEnvlp></s:Body></s:Envelope>\n`;
    const { entries } = await read(envelope + envelope + one, { size: 11 });
    expect(entries.map((entry) => entry.message.kind)).toEqual([kind, kind, kind]);
    expect(entries.map(({ place }) => place)).toEqual([1, 1, 1]);
  });

  it.each([
    ["<Document><CstmrCdtTrfInitn/></Document>", "it is a message CstmrCdtTrfInitn"],
    [camtStatement(two).slice(0, -12), "has no end"],
    ["text", "text outside"],
  ])("refuses %j", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it("names the ids that version 0.1.0 gave to the same records", async () => {
    const parts = [
      transfer({ id: "E1", amount: "40.00", documents: [{ number: "I1" }, { number: "I2" }] }),
      transfer({ id: "E1", amount: "40.00" }),
      transfer({ id: "E3", amount: "20.00" }),
    ];
    const text = camt053([
      entry({ amount: "100.00", details: parts }),
      entry({ amount: "5.00" }),
      entry({ amount: "5.00" }),
      entry({ amount: "6.00", details: [transfer({ id: "E4" })] }),
    ]);
    const { payments } = await read(text);
    expect(payments.map(({ formerIds }) => formerIds)).toEqual([
      ["camt-da4988a7580867f686329dbe"],
      ["camt-da4988a7580867f686329dbe-2"],
      ["camt-c5c8c5182f61438378b6cf70"],
      ["camt-c95185cf2e3f404f0ae3a5c4"],
      ["camt-c95185cf2e3f404f0ae3a5c4-2"],
      ["camt-711d7595b6e8b311e07f4a7c"],
    ]);
  });
});
