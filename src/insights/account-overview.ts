import { z } from "zod";
import { contract } from "../contract/index.ts";
import { Day, Flag } from "../contract/insights/arguments.ts";
import { requiredText } from "../contract/fields.ts";
import { Problem } from "../contract/errors.ts";
import type { AccountWithNotes } from "../contract/operations/accounts.ts";
import { DAY, formatDay } from "../kit/clock.ts";
import { readFamilyOverview } from "./account-family.ts";
import { type AccountFigures, readAccountDisputes } from "./account-disputes.ts";
import { readOpenDocuments } from "./account-documents.ts";
import { readAccountPayments } from "./account-payments.ts";
import { cutText, withoutNulls } from "./brief.ts";
import {
  type AccountHit,
  AccountPlace,
  type AccountSearch,
  findAccounts,
  findExact,
  findSimilarAccounts,
  placeAccounts,
} from "./find-accounts.ts";
import { defineInsight, type Fields, type InsightContext, type InsightResult } from "./insight.ts";
import {
  attemptPart,
  type Part,
  readPart,
  showPart,
  toUnavailable,
  type Unavailable,
} from "./read-part.ts";

import { type Moment, toMoment } from "./standing.ts";

const { accounts, company_scores, credit_applications, disputes, payments } = contract;

const NOTES = 3;
const NOTE_CHARACTERS = 200;
const CANDIDATES = 10;
const MAX_QUOTED = 100;

const showAccount = (part: Part<AccountWithNotes>, hit: AccountHit): Fields => {
  if (part.refused !== undefined) return { ...hit, ...toUnavailable(part.refused) };
  const { accountNumber, name, currency, payment_terms, credit_limit, account_group, email } =
    part.value;
  return withoutNulls({
    accountNumber,
    name,
    currency,
    paymentTerms: payment_terms,
    creditLimit: credit_limit,
    accountGroup: account_group,
    parentAccountNumber: part.value.parent_account_number,
    email,
  });
};

const showNotes = (part: Part<AccountWithNotes>, { calendar }: InsightContext) =>
  showPart(part, ({ notes }) =>
    notes
      .toSorted((a, b) => Date.parse(b.effective_date) - Date.parse(a.effective_date))
      .slice(0, NOTES)
      .map(({ reference, effective_date, body }) => ({
        reference,
        date: calendar.toDay(effective_date),
        text: cutText(body, NOTE_CHARACTERS),
      })),
  );

const PAST =
  "Documents, disputes and payments are those of that day; account, credit and notes are those of now.";

const figuresOf = ({ figures }: AccountFigures): Fields => figures;

const CREDIT_DAYS = 730;

/** Scores belong to the buyer company of a credit application, which has the account's name. */
const readCredit = async (context: InsightContext, name: string): Promise<Fields | Unavailable> => {
  const now = context.now();
  const period = { startDate: formatDay(now - CREDIT_DAYS * DAY), endDate: formatDay(now) };
  const part = await readPart(context, credit_applications.list, {
    activityType: "LASTMODIFIED",
    ...period,
  });
  if (part.refused !== undefined) return toUnavailable(part.refused);
  const folded = name.trim().toLowerCase();
  const application = part.value.applications.find(
    ({ company }) => company.name.trim().toLowerCase() === folded,
  );
  if (application === undefined) {
    return {
      available: false,
      reason: `No credit application of a company with this name since ${period.startDate}.`,
    };
  }
  const { applicationId, applicationStatus, company } = application;
  const score = await readPart(context, company_scores.get, { companyId: company.companyId });
  return {
    applicationId,
    applicationStatus: applicationStatus.title,
    scores: showPart(score, (value) => value),
  };
};

/** The figures of the account alone. */
const readOwnFigures = async (context: InsightContext, accountNumber: string, asOf: Moment) => {
  const [documents, disputed, paid] = await Promise.all([
    readOpenDocuments(context, accountNumber, asOf),
    attemptPart(context, disputes.list, () => readAccountDisputes(context, accountNumber, asOf)),
    attemptPart(context, payments.query, () => readAccountPayments(context, [accountNumber], asOf)),
  ]);
  const read = [documents, disputed, paid].flatMap((part) => ("value" in part ? [part.value] : []));
  return {
    stopped: read.flatMap(({ stopped }) => stopped ?? []),
    notes: read.flatMap(({ notes }) => notes),
    isPartial: false,
    item: {
      openDocuments: showPart(documents, figuresOf),
      disputes: showPart(disputed, figuresOf),
      payments: showPart(paid, figuresOf),
    },
  };
};

/** Whose figures an overview has, and of when. */
type Chosen = { includeChildren: boolean; asOf: Moment };

const overview = async (
  context: InsightContext,
  hit: AccountHit,
  { includeChildren, asOf }: Chosen,
) => {
  const { accountNumber } = hit;
  const readFigures = includeChildren ? readFamilyOverview : readOwnFigures;
  const [account, { item, ...limits }] = await Promise.all([
    readPart(context, accounts.get, { account_number: accountNumber }),
    readFigures(context, accountNumber, asOf),
  ]);
  const name = account.refused === undefined ? account.value.name : hit.name;
  return {
    ...limits,
    notes: [...(asOf.isPast ? [PAST] : []), ...limits.notes],
    item: {
      account: showAccount(account, hit),
      ...item,
      credit: await readCredit(context, name ?? ""),
      notesTotal: account.refused === undefined ? account.value.notes.length : null,
      notes: showNotes(account, context),
    },
  };
};

type Answer = Pick<InsightResult, "rowCount" | "truncated" | "notes" | "items" | "itemsTotal">;

const answerCandidates = async (
  context: InsightContext,
  { hits, notes, isPartial }: AccountSearch,
  why: string,
): Promise<Answer> => {
  const { skip } = context;
  const shown = await placeAccounts(context, hits.slice(skip, skip + CANDIDATES));
  return {
    rowCount: hits.length,
    truncated: isPartial,
    notes: [`${why}: call again with an accountNumber.`, ...notes],
    itemsTotal: hits.length,
    items: shown.map(({ accountNumber, name, place }) => ({ accountNumber, name, ...place })),
  };
};

const answerOne = async (
  context: InsightContext,
  { hit, ...figures }: Chosen & { hit: AccountHit },
  notes: readonly string[],
): Promise<Answer> => {
  const { item, stopped, notes: own, isPartial } = await overview(context, hit, figures);
  return {
    rowCount: 1,
    truncated: isPartial || stopped.length > 0,
    notes: [...stopped, ...own, ...notes],
    itemsTotal: 1,
    items: [item],
  };
};

/** @throws {Problem} `not_found` if no account has a similar name either */
const answerSimilar = async (
  context: InsightContext,
  text: string,
  search: AccountSearch,
): Promise<Answer> => {
  const why = `No account has the number or name ${JSON.stringify(text.slice(0, MAX_QUOTED))}`;
  const hits = await findSimilarAccounts(context, text);
  if (hits.length > 0)
    return answerCandidates(context, { ...search, hits }, `${why}; these are similar`);
  throw new Problem("not_found", [`${why}.`, ...search.notes].join(" "));
};

const answer = async (context: InsightContext, text: string, chosen: Chosen): Promise<Answer> => {
  const search = await findAccounts(context, text);
  const { hits } = search;
  if (hits.length === 0) return answerSimilar(context, text, search);
  const exact = findExact(search, text);
  if (exact !== undefined) return answerOne(context, { hit: exact.hit, ...chosen }, exact.notes);
  const [only, ...others] = hits;
  if (only !== undefined && others.length === 0) {
    return answerOne(context, { hit: only, ...chosen }, search.notes);
  }
  const count = search.isPartial ? `At least ${hits.length}` : hits.length;
  return answerCandidates(context, search, `${count} accounts match`);
};

const section = z.object({});

/** One customer: open documents, disputes, payments, credit and notes. */
export const accountOverview = defineInsight({
  name: "account_overview",
  title: "Overview of an account",
  input: z.strictObject({
    account: requiredText(200).meta({
      description: "number, or part of the name",
      examples: ["Acme"],
    }),
    includeChildren: Flag.default(false).describe("with every account below it; default false"),
    asOf: Day.optional().describe("documents, disputes and payments at the end of this day"),
  }),
  item: z.object({
    accountNumber: z.string(),
    name: z.string().nullable(),
    ...AccountPlace.shape,
    account: section,
    family: section.optional(),
    openDocuments: section,
    disputes: section,
    payments: section,
    credit: section,
    notesTotal: z
      .int()
      .nullable()
      .optional()
      .meta({ description: `notes are the newest ${NOTES}` }),
    notes: z.union([z.array(section), section]),
  }),
  needs: [],
  async run(context, { account, includeChildren, asOf: day }) {
    const end = toMoment(day, context);
    const asOf = { ...end, isPast: day !== undefined && end.at < context.now() };
    return {
      asOf: asOf.name,
      filter: {
        account,
        ...(includeChildren ? { includeChildren } : {}),
        ...(day === undefined ? {} : { asOf: day }),
      },
      currencyTotals: [],
      ...(await answer(context, account.trim(), { includeChildren, asOf })),
    };
  },
});
