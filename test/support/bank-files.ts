/** Files of banks as small as can be, in the form that each has. */
import type { Format } from "../../src/platform/import/formats.ts";

type Credit = {
  type?: string;
  cents: string;
  funds?: string;
  bank?: string;
  customer?: string;
  text?: string;
};

const transaction = (credit: Credit): string => {
  const { type = "142", cents, funds = "Z", bank = "", customer = "", text = "" } = credit;
  return `16,${type},${cents},${funds},${bank},${customer},${text}`;
};

// Records can share a line.
const AMOUNT = /(?:^|\/\s+)16,\d{3},(\d+)/gm;
const RECORD = /(?:^|\/\s+)(?:16|88),/gm;

/** A file of one group and account, with the control totals of its transactions. */
export const bai2 = (
  transactions: readonly (Credit | string)[],
  {
    currency = "USD",
    account = "00112233445",
    status = "1",
    file = "1",
    summary = ",010,500000,,,072,100,1,",
    sum = 500_100n,
  } = {},
): string => {
  const lines = transactions.map((one) => (typeof one === "string" ? one : `${transaction(one)}/`));
  const body = lines.join("\n");
  const total = [...body.matchAll(AMOUNT)].reduce(
    (all, [, digits = "0"]) => all + BigInt(digits),
    sum,
  );
  const records = [...body.matchAll(RECORD)].length + 2;
  return [
    `01,021000021,CUSTOMER,260301,0600,${file},80,,2/`,
    `02,CUSTOMER,021000021,${status},260228,2359,${currency},2/`,
    `03,${account},${summary}/`,
    ...lines,
    `49,${total},${records}/`,
    `98,${total},1,${records + 2}/`,
    `99,${total},1,${records + 4}/`,
    "",
  ].join("\n");
};

const padded = (text: string, size: number): string => text.padEnd(size);

export const isa = (terminator = "~"): string =>
  [
    "ISA",
    "00",
    padded("", 10),
    "00",
    padded("", 10),
    "ZZ",
    padded("PAYER", 15),
    "ZZ",
    padded("SELLER", 15),
    "260301",
    "0600",
    "^",
    "00501",
    "000000042",
    "0",
    "P",
    ":",
  ].join("*") + terminator;

/** One payment with its remittances, in an interchange of its own. */
export const edi820 = (
  segments: readonly string[],
  { terminator = "~", count = segments.length + 4 } = {},
): string =>
  [
    `${isa(terminator)}GS*RA*PAYER*SELLER*20260301*0600*1*X*005010X218`,
    "ST*820*0001",
    "BPR*C*1500.75*C*ACH*CTX*01*021000021*DA*1*1512345678**01*021000021*DA*2*20260228",
    "TRN*1*TRACE-77*1512345678",
    ...segments,
    `SE*${count}*0001`,
    "GE*1*1",
    `IEA*1*000000042${terminator}`,
  ].join(terminator);

/** A file with the format in which it is imported. */
export type BankFile = readonly [text: string, format: Format];

/** An 820 in EUR of one payment with one document. */
export const advise = ({
  amount = "100.00",
  trace = "TRACE-77",
  payer = "ACME TOOLS",
  day = "20260330",
  control = "000000042",
} = {}): BankFile => [
  edi820(["CUR*PR*EUR", `N1*PR*${payer}`, `RMR*IV*INV-7**${amount}`])
    .replace("*1500.75*", `*${amount}*`)
    .replace("*20260228~", `*${day}~`)
    .replace("TRN*1*TRACE-77*", `TRN*1*${trace}*`)
    .replaceAll("000000042", control),
  "edi820",
];

export const entry = (parts: {
  amount?: string;
  sign?: string;
  status?: string;
  reversal?: boolean;
  details?: readonly string[];
}): string => {
  const {
    amount = "100.00",
    sign = "CRDT",
    status = "BOOK",
    reversal = false,
    details = [],
  } = parts;
  return `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd>${
    reversal ? "<RvslInd>true</RvslInd>" : ""
  }<Sts>${status}</Sts><BookgDt><Dt>2026-02-27</Dt></BookgDt><ValDt><Dt>2026-02-28</Dt></ValDt><AcctSvcrRef>SVC-1</AcctSvcrRef>${
    details.length === 0 ? "" : `<NtryDtls>${details.join("")}</NtryDtls>`
  }</Ntry>`;
};

export const transfer = (parts: {
  id?: string;
  amount?: string;
  sign?: string;
  payer?: string;
  documents?: readonly { number: string; share?: string }[];
}): string => {
  const { id = "E2E-1", amount, sign, payer = "Muster GmbH", documents = [] } = parts;
  return `<TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs>${
    amount === undefined ? "" : `<Amt Ccy="EUR">${amount}</Amt>`
  }${sign === undefined ? "" : `<CdtDbtInd>${sign}</CdtDbtInd>`}<RltdPties><Dbtr><Nm>${payer}</Nm></Dbtr><DbtrAcct><Id><IBAN>DE02120300000000202051</IBAN></Id></DbtrAcct></RltdPties><RmtInf>${documents
    .map(
      ({ number, share }) =>
        `<Strd><RfrdDocInf><Nb>${number}</Nb></RfrdDocInf>${
          share === undefined
            ? ""
            : `<RfrdDocAmt><RmtdAmt Ccy="EUR">${share}</RmtdAmt></RfrdDocAmt>`
        }</Strd>`,
    )
    .join("")}</RmtInf></TxDtls>`;
};

export const camt053 = (entries: readonly string[], prefix = ""): string => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.04"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr>
<Stmt><Id>S</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>
${entries.join("\n")}
</Stmt></BkToCstmrStmt></Document>
`;
  if (prefix === "") return text;
  return text.replaceAll(/<(\/?)([A-Z])/g, `<$1${prefix}:$2`).replace("xmlns=", `xmlns:${prefix}=`);
};

/** An MT940 statement whose closing balance is that of its lines. */
export const mt940 = (
  lines: readonly string[],
  { reference = "STATEMENT", account = "37040044/532013000", closing = "1000,00" } = {},
): string =>
  [
    `:20:${reference}`,
    `:25:${account}`,
    ":28C:42/1",
    ":60F:C260327EUR1000,00",
    ...lines,
    `:62F:C260331EUR${closing}`,
    "-",
    "",
  ].join("\r\n");

/** The names of camt.054 in place of those of camt.053. */
export const NOTIFICATION = {
  message: "BkToCstmrDbtCdtNtfctn",
  statement: "Ntfctn",
  version: "054.001.08",
};

/** A statement with entries and the elements before them. */
export const camtStatement = (
  content: string,
  {
    message = "BkToCstmrStmt",
    statement = "Stmt",
    version = "053.001.08",
    account = "DE89370400440532013000",
  } = {},
): string =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${version}"><${message}><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-31T18:00:00+02:00</CreDtTm></GrpHdr><${statement}><Id>S1</Id><ElctrncSeqNb>9</ElctrncSeqNb><Acct><Id><IBAN>${account}</IBAN></Id></Acct>${content}</${statement}></${message}></Document>`;

/** An entry with a code such as `PMNT/RCDT/ESCT`; `more` goes between the code and the details. */
export const camtEntry = (parts: {
  amount: string;
  currency?: string;
  sign?: string;
  code?: string;
  status?: string;
  dates?: string;
  reversal?: boolean;
  reference?: string;
  more?: string;
  details?: string;
  text?: string;
}): string => {
  const {
    amount,
    currency = "EUR",
    sign = "CRDT",
    code = "PMNT/RCDT/ESCT",
    status = "BOOK",
  } = parts;
  const { dates = "<ValDt><Dt>2026-03-30</Dt></ValDt>", reversal, reference = "", text } = parts;
  const [domain = "", family = "", sub = ""] = code.split("/");
  return [
    `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd>`,
    reversal === true ? "<RvslInd>true</RvslInd>" : "",
    `<Sts><Cd>${status}</Cd></Sts>${dates}`,
    reference === "" ? "" : `<AcctSvcrRef>${reference}</AcctSvcrRef>`,
    `<BkTxCd><Domn><Cd>${domain}</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${sub}</SubFmlyCd></Fmly></Domn></BkTxCd>`,
    parts.more ?? "",
    parts.details === undefined ? "" : `<NtryDtls>${parts.details}</NtryDtls>`,
    text === undefined ? "" : `<AddtlNtryInf>${text}</AddtlNtryInf>`,
    "</Ntry>",
  ].join("");
};
