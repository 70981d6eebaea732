/** Files of banks as small as can be, in the form that each has. */

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

export const bai2 = (
  transactions: readonly (Credit | string)[],
  { currency = "USD", account = "00112233445" } = {},
): string =>
  [
    "01,021000021,CUSTOMER,260301,0600,1,80,,2/",
    `02,CUSTOMER,021000021,1,260228,2359,${currency},2/`,
    `03,${account},,010,500000,,,100,100,1,/`,
    ...transactions.map((one) => (typeof one === "string" ? one : `${transaction(one)}/`)),
    "49,500000,3/",
    "98,500000,1,5/",
    "99,500000,1,7/",
    "",
  ].join("\n");

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
