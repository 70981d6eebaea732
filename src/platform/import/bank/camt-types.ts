import { GVC_TYPES, listGvc, RETURNED_GVC } from "./gvc-types.ts";
import { createTypeTable, type FindType, type RecordType } from "./types.ts";
import { type Element, findAll, readText } from "./xml.ts";

const OWN = "gives back a payment of the company's own";
const NO_PAYMENT = "not a customer's payment";

/**
 * Types of camt credits: ISO 20022 external code set of bank transaction codes (domain/family/sub-family), where `*`
 * matches any domain and family, and purpose codes.
 */
export const CAMT_TYPES: readonly RecordType[] = [
  ...createTypeTable([
    {
      take: true,
      reason: "a customer's payment",
      types: [
        ["PMNT", "Payments"],
        ["PMNT/RCDT", "Received credit transfers"],
        ["PMNT/RRCT", "Received real-time credit transfers"],
        ["PMNT/IDDT", "Issued direct debits"],
        ["PMNT/RCHQ", "Received cheques"],
        ["PMNT/LBOX", "Lockbox transactions"],
        ["PMNT/MCRD", "Merchant card transactions"],
        ["PMNT/CNTR", "Counter transactions"],
        ["PMNT/DRFT", "Drafts and bills of exchange"],
        ["TRAD", "Trade services"],
        ["XTND", "Extended domain"],
      ],
    },
    {
      take: false,
      reason: OWN,
      // A credit in a family of payments that the company issues, or that others collect from it, undoes one.
      types: [
        ["PMNT/ICDT", "Issued credit transfers"],
        ["PMNT/IRCT", "Issued real-time credit transfers"],
        ["PMNT/RDDT", "Received direct debits"],
        ["PMNT/ICHQ", "Issued cheques"],
        ["PMNT/CCRD/RIMB", "Customer card transactions, reimbursement"],
        ["*/*/RPCR", "Reversal due to a payment cancellation request"],
        ["*/*/RRTN", "Reversal due to a payment return"],
        ["*/*/UPDD", "Unpaid direct debit"],
        ["*/*/PRDD", "Reversal due to a payment reversal"],
        ["*/*/RCDD", "Reversal due to a cancellation request of a direct debit"],
        ["*/*/UPCQ", "Unpaid cheque"],
        ["*/*/CQRV", "Cheque reversal"],
        ["*/*/UDFT", "Unpaid draft"],
        ["*/*/UPCT", "Unpaid card transaction"],
      ],
    },
    {
      take: false,
      reason: "a transfer between the company's own accounts",
      types: [
        ["CAMT", "Cash management"],
        ["ACMT", "Account management"],
        ["PMNT/RCCN", "Received cash concentration"],
        ["PMNT/ICCN", "Issued cash concentration"],
        ["*/*/AUTT", "Automatic transfer"],
        ["Purp SWEP", "Purpose: sweep"],
        ["Purp TOPG", "Purpose: topping"],
        ["Purp ZABA", "Purpose: zero balancing"],
      ],
    },
    {
      take: false,
      reason: NO_PAYMENT,
      types: [
        ["SECU", "Securities"],
        ["FORX", "Foreign exchange"],
        ["DERV", "Derivatives"],
        ["LDAS", "Loans, deposits and syndications"],
        ["PMET", "Precious metal"],
        ["CMDT", "Commodities"],
        ["*/*/INTR", "Interest"],
        ["*/*/TAXE", "Taxes"],
        ["*/*/FEES", "Fees"],
        ["*/*/CHRG", "Charges"],
        ["*/*/COMM", "Commission"],
        ["*/*/COME", "Commission excluding taxes"],
        ["*/*/COMI", "Commission including taxes"],
        ["*/*/COMT", "Non-taxable commissions"],
        ["*/*/TTLS", "Treasury tax and loan service"],
        ["Purp INTE", "Purpose: interest"],
        ["Purp DIVD", "Purpose: dividend"],
        ["Purp DIVI", "Purpose: dividend"],
        ["Purp TAXR", "Purpose: tax refund"],
        ["Purp LOAN", "Purpose: loan"],
        ["Purp FREX", "Purpose: foreign exchange"],
        ["Purp SECU", "Purpose: securities"],
        ["Purp TREA", "Purpose: treasury payment"],
      ],
    },
  ]),
  ...GVC_TYPES,
];

// Sub-families that undo an earlier booking.
const UNDOING: ReadonlySet<string> = new Set(
  "RPCR RRTN UPDD PRDD RCDD UPCQ CQRV UDFT UPCT".split(" "),
);
// Sub-families of direct debits that the company pays, in contrast to those that come back to it.
const COLLECTED: ReadonlySet<string> = new Set(
  "ESDD BBDD PADD OODD XBDD FIDD SDVA PMDD".split(" "),
);

export type Codes = {
  domain: string;
  family: string;
  sub: string;
  gvc: string;
  proprietary: string;
};

// The proprietary code of German banks: SWIFT code, GVC, number of the booking text.
const GVC = /^N[A-Z0-9]{3}\+(\d{3})(?:\+|$)/;

export const readCodes = (element: Element): Codes => {
  const [code] = findAll(element, "BkTxCd");
  const read = (path: string): string => (code === undefined ? "" : readText(code, path));
  const proprietary = read("Prtry/Cd");
  return {
    domain: read("Domn/Cd"),
    family: read("Domn/Fmly/Cd"),
    sub: read("Domn/Fmly/SubFmlyCd"),
    gvc: GVC.exec(proprietary)?.[1] ?? "",
    proprietary,
  };
};

export const hasCodes = ({ domain, proprietary }: Codes): boolean =>
  domain !== "" || proprietary !== "";

const listCandidates = ({ domain, family, sub, gvc, proprietary }: Codes, purpose: string) => [
  `${domain}/${family}/${sub}`,
  `*/*/${sub}`,
  ...listGvc(gvc),
  ...(purpose === "" ? [] : [`Purp ${purpose}`]),
  `${domain}/${family}`,
  domain,
  proprietary,
];

export const describeCodes = ({ domain, family, sub, proprietary }: Codes): string =>
  [domain, family, sub].filter((part) => part !== "").join("/") || proprietary || "no code";

export type Facts = {
  isCredit: boolean;
  codes: Codes;
  purpose: string;
  /** Entry: RvslInd. */
  isReversal: boolean;
  /** Transaction: RtrInf, with code and text of the reason. */
  returnReason: string | undefined;
  /** Whether the debtor of a credit is the account's owner. */
  isOwn: boolean;
};

export type Verdict =
  | { as: "payment" }
  | { as: "return"; reason: string }
  | { as: "out"; type: string; reason: string; isGivenBack: boolean };

const isReturningDebit = ({ domain, family, sub, gvc }: Codes): boolean => {
  if (UNDOING.has(sub) || RETURNED_GVC.has(gvc)) return true;
  if (domain !== "PMNT") return false;
  if (family === "MCRD" && sub === "RIMB") return true;
  return family === "RDDT" && !COLLECTED.has(sub);
};

const judgeDebit = (facts: Facts, find: FindType): Verdict => {
  const { codes, isReversal, returnReason, purpose } = facts;
  const type = describeCodes(codes);
  const rule = find(...listCandidates(codes, purpose));
  // ISO 20022, ReversalIndicator: DBIT with the value true reverses an entry that was a credit.
  const isReturn = isReversal || returnReason !== undefined || isReturningDebit(codes);
  const isNamed = rule?.reason === "named by the import map";
  if (isNamed ? rule.take : isReturn) {
    // The names of ordinary families say nothing about a return.
    const isTelling = rule !== undefined && (!rule.take || RETURNED_GVC.has(codes.gvc));
    const name = isTelling ? rule.name : isReversal ? "reversal" : type;
    return { as: "return", reason: returnReason || name };
  }
  const reason = "a debit, not the return of a customer's payment";
  return { as: "out", type, reason, isGivenBack: false };
};

/** Decides whether a booking is a customer's payment, returns one, or is left out. */
export const judge = (facts: Facts, find: FindType): Verdict => {
  if (!facts.isCredit) return judgeDebit(facts, find);
  const { codes, isReversal, returnReason, purpose, isOwn } = facts;
  const type = describeCodes(codes);
  // ISO 20022, ReversalIndicator: CRDT with the value true reverses an entry that was a debit.
  if (isReversal || returnReason !== undefined) {
    const reason = returnReason ? `${OWN} (${returnReason})` : OWN;
    return { as: "out", type, reason, isGivenBack: true };
  }
  const rule = find(...listCandidates(codes, purpose));
  if (rule !== undefined && !rule.take) {
    const isGivenBack = rule.reason === OWN;
    return { as: "out", type, reason: `${rule.name}: ${rule.reason}`, isGivenBack };
  }
  if (isOwn && rule?.reason !== "named by the import map") {
    const reason = "comes from the owner of the account: a transfer between own accounts";
    return { as: "out", type, reason, isGivenBack: false };
  }
  return { as: "payment" };
};
