import { sum, type Booking, decimal, type Other, type Transaction } from "./truth.ts";
import type { Statement } from "./statement.ts";

export type CamtKind = "camt.052" | "camt.053" | "camt.054";

const ELEMENTS: Readonly<Record<CamtKind, { message: string; statement: string }>> = {
  "camt.052": { message: "BkToCstmrAcctRpt", statement: "Rpt" },
  "camt.053": { message: "BkToCstmrStmt", statement: "Stmt" },
  "camt.054": { message: "BkToCstmrDbtCdtNtfctn", statement: "Ntfctn" },
};

const CODES: Readonly<Record<Other | "payment" | "return", string>> = {
  payment: "PMNT/RCDT/ESCT",
  return: "PMNT/RCDT/RRTN",
  interest: "ACMT/MCOP/INTR",
  transfer: "CAMT/CAPL/SWEP",
  fee: "ACMT/MDOP/CHRG",
  outgoing: "PMNT/ICDT/ESCT",
};

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const element = (name: string, content: string, attributes = ""): string =>
  content === "" ? "" : `<${name}${attributes}>${content}</${name}>`;

const money = (name: string, amount: number, { account }: Pick<Booking, "account">): string =>
  element(name, decimal(Math.abs(amount), account.decimals), ` Ccy="${account.currency}"`);

const describeShares = (booking: Booking, { shares }: Transaction): string =>
  shares
    .map(({ document, paid, discount, deduction }) => {
      if (document.credit !== undefined) {
        const number = `<RfrdDocInf><Tp><CdOrPrtry><Cd>CREN</Cd></CdOrPrtry></Tp><Nb>${document.number}</Nb></RfrdDocInf>`;
        return `<Strd>${number}<RfrdDocAmt>${money("CdtNoteAmt", paid, booking)}</RfrdDocAmt></Strd>`;
      }
      const amounts = [
        money("DuePyblAmt", paid + discount + deduction, booking),
        discount === 0 ? "" : element("DscntApldAmt", money("Amt", discount, booking)),
        deduction === 0
          ? ""
          : `<AdjstmntAmtAndRsn>${money("Amt", deduction, booking)}<CdtDbtInd>DBIT</CdtDbtInd><Rsn>SHORT</Rsn></AdjstmntAmtAndRsn>`,
        money("RmtdAmt", paid, booking),
      ].join("");
      const number = `<RfrdDocInf><Tp><CdOrPrtry><Cd>CINV</Cd></CdOrPrtry></Tp><Nb>${document.number}</Nb></RfrdDocInf>`;
      return `<Strd>${number}<RfrdDocAmt>${amounts}</RfrdDocAmt></Strd>`;
    })
    .join("");

const describeTransaction = (
  booking: Booking,
  transaction: Transaction,
  hasDocuments: boolean,
): string => {
  const { customer, trace, text, amount } = transaction;
  const { returned } = booking;
  const parties = `<RltdPties><Dbtr><Nm>${escape(customer.name)}</Nm></Dbtr><DbtrAcct><Id><IBAN>${customer.account}</IBAN></Id></DbtrAcct></RltdPties>`;
  const remittance =
    element("Ustrd", text) + (hasDocuments ? describeShares(booking, transaction) : "");
  return [
    "<TxDtls><Refs>",
    element("AcctSvcrRef", returned?.reference ?? ""),
    `<EndToEndId>${trace || "NOTPROVIDED"}</EndToEndId></Refs>`,
    money("Amt", amount, booking),
    parties,
    element("RmtInf", remittance),
    returned === undefined ? "" : "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>",
    "</TxDtls>",
  ].join("");
};

/** Writes the transactions of a booking; those of a batch are named by their number alone without details. */
const describeDetails = (booking: Booking, hasDetails: boolean): string => {
  const { transactions, other } = booking;
  if (other !== undefined) return "";
  const all = transactions.map((one) => describeTransaction(booking, one, hasDetails)).join("");
  if (transactions.length === 1) return element("NtryDtls", all);
  const batch = `<Btch><NbOfTxs>${transactions.length}</NbOfTxs></Btch>`;
  return element("NtryDtls", batch + (hasDetails ? all : ""));
};

const describeEntry = (booking: Booking, day: string, hasDetails: boolean): string => {
  const { amount, reference, other, returned } = booking;
  const code = CODES[other ?? (returned === undefined ? "payment" : "return")];
  const [domain = "", family = "", sub = ""] = code.split("/");
  return [
    `<Ntry>${money("Amt", amount, booking)}<CdtDbtInd>${amount < 0 ? "DBIT" : "CRDT"}</CdtDbtInd>`,
    returned === undefined ? "" : "<RvslInd>true</RvslInd>",
    `<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt>`,
    element("AcctSvcrRef", reference),
    `<BkTxCd><Domn><Cd>${domain}</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${sub}</SubFmlyCd></Fmly></Domn></BkTxCd>`,
    describeDetails(booking, hasDetails),
    "</Ntry>",
  ].join("");
};

const describeBalance = (statement: Statement, code: string, amount: number): string =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${money("Amt", amount, statement)}<CdtDbtInd>${amount < 0 ? "DBIT" : "CRDT"}</CdtDbtInd><Dt><Dt>${statement.day}</Dt></Dt></Bal>`;

const describeSummary = ({ account, bookings }: Statement): string => {
  const write = (name: string, own: readonly Booking[]): string => {
    const total = sum(own.map(({ amount }) => Math.abs(amount)));
    return `<${name}><NbOfNtries>${own.length}</NbOfNtries><Sum>${decimal(total, account.decimals)}</Sum></${name}>`;
  };
  const credits = bookings.filter(({ amount }) => amount > 0);
  const debits = bookings.filter(({ amount }) => amount < 0);
  return `<TxsSummry>${write("TtlCdtNtries", credits)}${write("TtlDbtNtries", debits)}</TxsSummry>`;
};

export type CamtForm = {
  /** Whether it has the details of transactions. */
  hasDetails: boolean;
  /** Whether it says the sums of its entries. */
  hasSums: boolean;
  /** The envelope around the document. */
  envelope: "none" | "header" | "soap";
  /** The encoding that it declares. */
  encoding: string;
};

const ENVELOPES: Readonly<Record<CamtForm["envelope"], readonly [before: string, after: string]>> =
  {
    none: ["", ""],
    header: [
      '<BizMsgEnvlp xmlns="urn:bank:envelope"><AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.02"><BizMsgIdr>B1</BizMsgIdr></AppHdr>',
      "</BizMsgEnvlp>",
    ],
    soap: [
      '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Header/><soap:Body>',
      "</soap:Body></soap:Envelope>",
    ],
  };

/** Writes a camt message of one statement. */
export const writeCamt = (kind: CamtKind, statement: Statement, form: CamtForm): string => {
  const { hasDetails, hasSums, envelope, encoding } = form;
  const [before, after] = ENVELOPES[envelope];
  const { message, statement: name } = ELEMENTS[kind];
  const { id, account, day, opening, closing, bookings } = statement;
  const balances =
    kind === "camt.053"
      ? describeBalance(statement, "OPBD", opening) + describeBalance(statement, "CLBD", closing)
      : "";
  return [
    `<?xml version="1.0" encoding="${encoding}"?>\n${before}<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${kind}.001.08">`,
    `<${message}><GrpHdr><MsgId>M${id}</MsgId><CreDtTm>${day}T18:00:00+01:00</CreDtTm></GrpHdr>`,
    `<${name}><Id>${id}</Id><Acct><Id><Othr><Id>${account.number}</Id></Othr></Id></Acct>`,
    balances,
    hasSums ? describeSummary(statement) : "",
    ...bookings.map((one) => describeEntry(one, day, hasDetails)),
    `</${name}></${message}></Document>${after}\n`,
  ].join("");
};
