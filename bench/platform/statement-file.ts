import { once } from "node:events";
import { createWriteStream } from "node:fs";

const CENTS = 100;

const two = (number: number): string => String(number).padStart(2, "0");

const decimal = (cents: number): string => `${Math.floor(cents / CENTS)}.${two(cents % CENTS)}`;

/** An entry of one payment with its payer, references and two documents, of about 1.6 KB. */
const writeEntry = (place: number): { text: string; cents: number } => {
  const shares = [place, place + 1].map((number) => 100 + ((number * 7919) % 500_000));
  const cents = shares.reduce((sum, share) => sum + share, 0);
  const customer = place % 977;
  const day = `2026-03-${two(1 + (place % 28))}`;
  const lines = shares.map(
    (share, number) =>
      `<Strd><RfrdDocInf><Tp><CdOrPrtry><Cd>CINV</Cd></CdOrPrtry></Tp><Nb>INV-${place * 2 + number}</Nb></RfrdDocInf><RfrdDocAmt><DuePyblAmt Ccy="EUR">${decimal(share)}</DuePyblAmt><RmtdAmt Ccy="EUR">${decimal(share)}</RmtdAmt></RfrdDocAmt></Strd>`,
  );
  const text = `<Ntry>
  <NtryRef>${place}</NtryRef><Amt Ccy="EUR">${decimal(cents)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
  <BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt><AcctSvcrRef>BANK2026${place}</AcctSvcrRef>
  <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn><Prtry><Cd>NTRF+166</Cd><Issr>DK</Issr></Prtry></BkTxCd>
  <NtryDtls><TxDtls>
    <Refs><MsgId>M${place}</MsgId><EndToEndId>E2E-${place}</EndToEndId></Refs>
    <Amt Ccy="EUR">${decimal(cents)}</Amt><CdtDbtInd>CRDT</CdtDbtInd>
    <RltdPties><Dbtr><Pty><Nm>Customer ${customer} GmbH</Nm><PstlAdr><Ctry>DE</Ctry><AdrLine>Long Street ${customer}</AdrLine></PstlAdr></Pty></Dbtr><DbtrAcct><Id><IBAN>DE0212030000000020${2000 + customer}</IBAN></Id></DbtrAcct></RltdPties>
    <RltdAgts><DbtrAgt><FinInstnId><BICFI>BYLADEM1001</BICFI></FinInstnId></DbtrAgt></RltdAgts>
    <RmtInf><Ustrd>Payment of two invoices, thank you</Ustrd>${lines.join("")}</RmtInf>
  </TxDtls></NtryDtls>
</Ntry>
`;
  return { text, cents };
};

/** Writes a camt.053 statement of at least so many bytes and returns the number of its entries. */
export const writeStatement = async (path: string, bytes: number): Promise<number> => {
  const file = createWriteStream(path);
  file.write(`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
<GrpHdr><MsgId>BENCH</MsgId><CreDtTm>2026-03-31T18:00:00+02:00</CreDtTm></GrpHdr>
<Stmt><Id>S-1</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>
`);
  let [size, entries] = [0, 0];
  while (size < bytes) {
    const { text } = writeEntry(entries);
    entries += 1;
    size += text.length;
    // Writes the file in bounded memory.
    if (!file.write(text)) await once(file, "drain");
  }
  file.end("</Stmt></BkToCstmrStmt></Document>\n");
  await once(file, "finish");
  return entries;
};
