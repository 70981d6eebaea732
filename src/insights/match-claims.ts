import Big from "big.js";
import { z } from "zod";
import { contract } from "../contract/index.ts";
import { Amount, requiredText } from "../contract/fields.ts";
import { Currency } from "../contract/insights/arguments.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Reason } from "../contract/operations/reasons.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { mapInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { omitNulls } from "./brief.ts";
import { type AmountClaim, readByAmounts } from "./claim-amounts.ts";
import { readClaimDocuments } from "./claim-documents.ts";
import { fitReason, readReasons } from "./claim-reasons.ts";
import { sumByCurrency } from "./currency-totals.ts";
import { type DeductionRow, findDeduction, type Matched } from "./deduction-match.ts";
import { readDeductionRows } from "./deduction-rows.ts";
import { fold } from "./dispute-names.ts";
import { balanceOf, originalAmountOf, toDocumentBrief } from "./documents.ts";
import { describeEnded, listEnded } from "./ended-disputes.ts";
import { defineInsight, type Fields, type InsightContext } from "./insight.ts";
import { attemptPart, type Part, readPart } from "./read-part.ts";
import { type Moment, toMoment } from "./standing.ts";
import { createLeftOutRows } from "./standing-payments.ts";

const MOST_LINES = 50;
const MOST_CANDIDATES = 5;
const MOST_DISPUTES = 1000;
/** Customers whose account and disputes are read, in two calls each. */
const MOST_ACCOUNTS = 60;
const CONCURRENT = 4;

const Line = z.strictObject({
  reference: requiredText(200)
    .optional()
    .meta({ description: "document, invoice or PO number as written", examples: ["inv 00471-1"] }),
  amount: Amount.optional().describe("claimed"),
  currencyCode: Currency.optional().describe("such as USD"),
  customer: requiredText(500)
    .optional()
    .meta({ description: "account number, or part of the name" }),
  reason: requiredText(500).optional().meta({ description: "the customer's words or code" }),
});
type Line = z.output<typeof Line>;

/** The platform's records of an account that claims name. */
type Account = {
  name: string | null;
  disputes: readonly Dispute[];
  /** Why a part of it could not be read. */
  notes: readonly string[];
};

const describeRefused = (what: string, { refused }: Part<unknown>): string[] =>
  refused === undefined || refused.isAbsent ? [] : [`${what} were not read: ${refused.reason}`];

/**
 * Reads an account and its newest disputes. An account that has more of them than one page: also those of its
 * documents, each by itself.
 */
const readAccount = async (
  context: InsightContext,
  accountNumber: string,
  documentNumbers: readonly string[],
): Promise<Account> => {
  const page = { Page: 1, PageSize: MOST_DISPUTES };
  const [account, disputes] = await Promise.all([
    readPart(context, contract.accounts.get, { account_number: accountNumber }),
    readPart(context, contract.disputes.list, {
      AccountNumber: accountNumber,
      Sort: "-CreateDate",
      ...page,
    }),
  ]);
  const newest = disputes.refused === undefined ? disputes.value : [];
  const isCut = newest.length >= MOST_DISPUTES && disputes.reply?.total !== newest.length;
  const own = new Map(newest.map((one) => [one.disputeId, one]));
  const refusals = describeRefused("Disputes", disputes);
  for await (const part of mapConcurrent(isCut ? documentNumbers : [], CONCURRENT, (number) =>
    readPart(context, contract.disputes.list, { DocumentNumber: number, ...page }),
  )) {
    refusals.push(...describeRefused("Disputes", part));
    for (const one of part.refused === undefined ? part.value : []) own.set(one.disputeId, one);
  }
  const named = newest.find(({ accountName }) => typeof accountName === "string")?.accountName;
  return {
    name: account.refused === undefined ? account.value.name : (named ?? null),
    disputes: [...own.values()],
    notes: [...describeRefused("Accounts", account), ...refusals],
  };
};

/** Reads the accounts of the documents of each line, first those of lines with the fewest documents. */
const readAccounts = async (
  context: InsightContext,
  found: readonly (readonly DocumentWithClosing[])[],
) => {
  const accounts = new Map<string, Account>();
  const inOrder = found.toSorted((a, b) => a.length - b.length).flat();
  const all = Map.groupBy(inOrder, ({ account_number }) => account_number);
  const read = async ([number, own]: [string, DocumentWithClosing[]]) => {
    const numbers = [...new Set(own.map(({ documentNumber }) => documentNumber))];
    return { number, account: await readAccount(context, number, numbers) };
  };
  const first = [...all].slice(0, MOST_ACCOUNTS);
  for await (const { number, account } of mapConcurrent(first, CONCURRENT, read)) {
    accounts.set(number, account);
  }
  const notes = [...accounts.values()].flatMap((account) => account.notes);
  const left = all.size - first.length;
  return {
    accounts,
    notes:
      left === 0
        ? notes
        : [...notes, `Disputes and names of ${left} accounts were not read: name the customers.`],
  };
};

/** Reads the payments on documents, or says why they cannot be read. */
const readRows = async (context: InsightContext, numbers: readonly string[]) => {
  const part = await attemptPart(context, contract.payments.query, () =>
    readDeductionRows(context, numbers),
  );
  return part.refused === undefined
    ? { ...part.value, isPartial: part.value.notes.length > 0 }
    : {
        rows: new Map<string, never>(),
        notes: describeRefused("Payments", part),
        isPartial: false,
      };
};

const isCustomer = (
  customer: string,
  accountNumber: string,
  name: string | null | undefined,
): boolean => {
  const [text, own] = [fold(customer.trim()), fold(name ?? "")];
  return text === fold(accountNumber) || (own !== "" && (own.includes(text) || text.includes(own)));
};

/** Finds the documents of each line: those of its reference, else those of its customer with its amount. */
const findMeant = async (context: InsightContext, lines: readonly Line[]) => {
  const references = [...new Set(lines.flatMap(({ reference }) => reference?.trim() ?? []))];
  const toClaim = ({ reference, customer, amount, currencyCode }: Line): AmountClaim | undefined =>
    reference !== undefined || customer === undefined || amount === undefined
      ? undefined
      : { customer: customer.trim(), amount, currencyCode };
  const byReference = await readClaimDocuments(context, references);
  const byAmount = await readByAmounts(
    context,
    lines.flatMap((line) => toClaim(line) ?? []),
  );
  const documents = lines.map((line) => {
    if (line.reference !== undefined) return byReference.find(line.reference.trim());
    const claim = toClaim(line);
    return claim === undefined ? [] : byAmount.find(claim);
  });
  const notes = [...byReference.notes, ...byAmount.notes];
  return { documents, notes, isCut: byAmount.isCut };
};

const OPEN = 0;

const toOpenDispute = ({ disputeCode, amount, reasonName }: Dispute): Fields => ({
  disputeCode,
  amount,
  reasonName,
});

type Facts = {
  document: DocumentWithClosing;
  account: Account | undefined;
  open: readonly Dispute[];
  ended: readonly Dispute[];
  matched: Matched | undefined;
};

/** Compares a claimed amount with what a payment left out, else with what was billed. */
const describeAmount = (amount: number, { document, matched }: Facts): string[] => {
  if (matched?.match === "other-amount" && matched.difference !== undefined) {
    return [`amount differs by ${-matched.difference}`];
  }
  const billed = originalAmountOf(document) ?? balanceOf(document).amount;
  return billed !== null && amount > Math.abs(billed)
    ? [`amount differs by ${new Big(amount).minus(Math.abs(billed)).toNumber()}`]
    : [];
};

const isOtherCurrency = ({ currencyCode }: Line, document: DocumentWithClosing): boolean => {
  const own = balanceOf(document).currencyCode;
  return currencyCode !== undefined && own !== null && currencyCode !== own;
};

const describeDoubts = (line: Line, facts: Facts): string[] => {
  const { customer, currencyCode } = line;
  const { document, account, open, ended } = facts;
  const isOther =
    customer !== undefined && !isCustomer(customer, document.account_number, account?.name);
  const isOtherMoney = isOtherCurrency(line, document);
  // Amounts of different currencies are not compared.
  const amount = isOtherMoney ? undefined : line.amount;
  const isDisputed = open.some(
    (one) =>
      line.amount === undefined ||
      (one.amount === line.amount && one.currencyCode === (currencyCode ?? one.currencyCode)),
  );
  return [
    ...(isOther ? ["other customer"] : []),
    ...(isOtherMoney ? ["other currency"] : []),
    ...(document.status === "closed" ? ["closed"] : []),
    ...(isDisputed ? ["already disputed"] : []),
    ...(ended.length > 0 ? ["disputed before"] : []),
    ...(amount === undefined ? [] : describeAmount(amount, facts)),
  ];
};

const toCandidate = (document: DocumentWithClosing, accounts: ReadonlyMap<string, Account>) =>
  omitNulls({
    documentNumber: document.documentNumber,
    accountNumber: document.account_number,
    accountName: accounts.get(document.account_number)?.name,
    balance: balanceOf(document).amount,
    status: document.status,
  });

const toPayment = ({ row, match, difference }: Matched): Fields | undefined =>
  row === undefined
    ? undefined
    : omitNulls({
        match,
        paymentId: row.paymentId,
        paymentDate: row.paymentDate,
        deductionAmount: row.deductionAmount,
        deductionReasonCode: row.deductionReasonCode,
        difference,
      });

/** Prefers the documents of the named customer among several. */
const narrow = (
  { customer }: Line,
  found: readonly DocumentWithClosing[],
  accounts: ReadonlyMap<string, Account>,
): readonly DocumentWithClosing[] => {
  if (customer === undefined || found.length < 2) return found;
  const own = found.filter((one) =>
    isCustomer(customer, one.account_number, accounts.get(one.account_number)?.name),
  );
  return own.length > 0 ? own : found;
};

type Known = {
  rows: ReadonlyMap<string, readonly DeductionRow[]>;
  accounts: ReadonlyMap<string, Account>;
  reasons: readonly Reason[];
  now: Moment;
  /** The rows that explain earlier lines. */
  taken: Set<DeductionRow>;
};

/** Shows the document that a line means, what fits it, and what is doubtful. */
const showDocument = (
  line: Line,
  document: DocumentWithClosing,
  { rows, accounts, now, taken }: Known,
): Fields => {
  const account = accounts.get(document.account_number);
  const own = (account?.disputes ?? []).filter(
    ({ documentNumber }) => documentNumber === document.documentNumber,
  );
  const open = own.filter(({ status }) => status === OPEN);
  const ended = listEnded(own, line.amount);
  const claim = {
    amount: line.amount ?? 0,
    currencyCode: line.currencyCode ?? balanceOf(document).currencyCode ?? "",
    createDate: now.name,
  };
  const isTaken = (row: DeductionRow): boolean => taken.has(row);
  const how = { tolerance: 0, calendar: now.calendar, isTaken };
  const matched =
    line.amount === undefined
      ? undefined
      : findDeduction(claim, rows.get(document.documentNumber) ?? [], how);
  if (matched?.match === "exact" && matched.row !== undefined) taken.add(matched.row);
  return omitNulls({
    document: omitNulls({ ...toDocumentBrief(document, now), accountName: account?.name }),
    openDisputes: open.length === 0 ? undefined : open.map(toOpenDispute),
    endedDisputes:
      ended.length === 0 ? undefined : ended.map((one) => describeEnded(one, now.calendar)),
    payment: matched === undefined ? undefined : toPayment(matched),
    doubts: describeDoubts(line, { document, account, open, ended, matched }),
  });
};

const judgeLine = (
  { line, place }: { line: Line; place: number },
  candidates: readonly DocumentWithClosing[],
  known: Known,
): Fields => {
  const { accounts, reasons } = known;
  const found = narrow(line, candidates, accounts);
  const [document, another] = found;
  const earlier = accounts.get(document?.account_number ?? "")?.disputes ?? [];
  const reason = line.reason === undefined ? undefined : fitReason(line.reason, reasons, earlier);
  const head = { line: place + 1, reference: line.reference };
  if (document === undefined) return omitNulls({ ...head, reason, doubts: ["none"] });
  if (another === undefined) {
    const { document: shown, ...rest } = showDocument(line, document, known);
    return omitNulls({ ...head, document: shown, reason, ...rest });
  }
  const shown = found.slice(0, MOST_CANDIDATES).map((one) => toCandidate(one, accounts));
  const candidatesTotal = found.length > shown.length ? found.length : undefined;
  return omitNulls({ ...head, reason, doubts: ["several"], candidatesTotal, candidates: shown });
};

const list = z.array(z.object({}));

/** For lines of a customer's mail or claim sheet: the documents meant, and what is doubtful about them. */
export const matchClaims = defineInsight({
  name: "match_claims",
  title: "Match claims",
  input: z.strictObject({
    lines: z
      .array(Line)
      .min(1)
      .max(MOST_LINES)
      .meta({
        description: `at most ${MOST_LINES}, in order`,
        examples: [[{ reference: "INV 00471", amount: 120.5, reason: "short shipped" }]],
      }),
  }),
  item: z.object({
    line: z.int().meta({ description: "from 1" }),
    reference: z.string().optional(),
    document: z.object({}).optional(),
    openDisputes: list.optional(),
    endedDisputes: list.optional().meta({ description: "of the document; newest 3" }),
    payment: z.object({}).optional(),
    reason: z.object({}).optional(),
    doubts: z.array(z.string()).meta({
      description:
        "several, none, other customer, other currency, amount differs by …, already disputed, disputed before, closed; empty: none",
    }),
    candidatesTotal: z.int().optional().meta({ description: "where not all are shown" }),
    candidates: list.optional(),
  }),
  needs: [contract.documents.get, contract.disputes.list, contract.payments.query],
  async run(context, { lines }) {
    const { documents, notes: missing, isCut } = await findMeant(context, lines);
    const all = documents.flat();
    const { rows, notes, isPartial } = await readRows(context, [
      ...new Set(all.map(({ documentNumber }) => documentNumber)),
    ]);
    const leftOut = createLeftOutRows();
    for (const own of rows.values()) leftOut.count(own);
    const { accounts, notes: accountNotes } = await readAccounts(context, documents);
    const { reasons, notes: reasonNotes } = await readReasons(context);
    const now = toMoment(undefined, context);

    const active = reasons.filter((one) => one.active);
    const known = { rows, accounts, reasons: active, now, taken: new Set<DeductionRow>() };
    // A line is compared with every reason and every dispute of its customer.
    const items = await mapInTurns(
      lines.entries(),
      ([place, line]) => judgeLine({ line, place }, documents[place] ?? [], known),
      1,
    );
    return {
      asOf: formatTimestamp(context.now()),
      filter: { lines: lines.length },
      rowCount: items.length,
      truncated: isPartial || isCut,
      currencyTotals: sumByCurrency(
        lines.flatMap(({ amount, currencyCode = null }) =>
          amount === undefined ? [] : [{ amount, currencyCode }],
        ),
      ),
      notes: [
        ...new Set([...missing, ...notes, ...leftOut.notes(), ...accountNotes, ...reasonNotes]),
      ],
      itemsTotal: items.length,
      items: items.slice(context.skip),
    };
  },
});
