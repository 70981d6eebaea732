import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import { STATUS_NUMBERS } from "../../contract/insights/dispute-filters.ts";
import type { ArgsOf, CallArguments, Operation } from "../../contract/operation.ts";
import { cutText } from "../../insights/brief.ts";
import type { CallerContext } from "../caller.ts";
import { cost, fairShares, type Fields, truncateToBudget } from "../results/budget.ts";
import { readList } from "../results/pages.ts";
import { MARGIN_TOKENS, type Part, truncatePart } from "./part.ts";
import type { ConfigurationNoun } from "./resource-list.ts";
import type { Broker } from "../../broker/port.ts";
import type { Dispute } from "../../contract/operations/disputes.ts";
import { parseDisputeCode } from "../../insights/dispute-code.ts";
import { findByCode } from "../../insights/find-dispute.ts";
import { createNumberContext } from "../results/number-context.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { wordsFor } from "../results/status-words.ts";

const MAX_SEARCHED = 100;
export const MAX_COMPLETIONS = 100;

const findDisputes = async (
  broker: Broker,
  filter: ArgsOf<typeof contract.disputes.list>,
  options: CallOptions,
): Promise<Dispute[]> => {
  const args = { ...filter, Page: 1, PageSize: MAX_SEARCHED };
  return (await broker.call(contract.disputes.list, args, options)).output;
};

/** Returns the id of the dispute with a code; any other name unchanged. */
const findDisputeId = async (
  broker: Broker,
  name: string,
  options: CallOptions,
): Promise<string> => {
  if (parseDisputeCode(name) === undefined) return name;
  const [dispute] = await findByCode(await createNumberContext(broker, options), name);
  return dispute?.disputeId ?? name;
};

/**
 * Returns numbers of accounts or documents with disputes, last updated first: those that begin with the typed text, or
 * whose account's name contains it.
 */
export const completeNumber =
  (field: "accountNumber" | "documentNumber") =>
  async ({ broker }: CallerContext, typed: string, options: CallOptions): Promise<string[]> => {
    const found = await findDisputes(broker, { Sort: "-UpdateDate" }, options);
    const searched = typed.toLowerCase();
    const matching = found.filter(
      (dispute) =>
        dispute[field].toLowerCase().startsWith(searched) ||
        (dispute.accountName ?? "").toLowerCase().includes(searched),
    );
    return [...new Set(matching.map((dispute) => sanitizeText(dispute[field], "stored")))];
  };

/** Returns the ids, or the codes if a code is typed, of open disputes that begin with the text, last updated first. */
export const completeDispute = async (
  { broker }: CallerContext,
  typed: string,
  options: CallOptions,
): Promise<string[]> => {
  const documentNumber = parseDisputeCode(typed);
  const filter = documentNumber === undefined ? {} : { DocumentNumber: documentNumber };
  const query = { ...filter, Status: [STATUS_NUMBERS.Open], Sort: "-UpdateDate" };
  const found = await findDisputes(broker, query, options);
  const start = typed.toLowerCase();
  return found
    .flatMap(({ disputeId, disputeCode }) =>
      start === "" ? [disputeId] : [disputeId, disputeCode],
    )
    .filter((name) => name.toLowerCase().startsWith(start))
    .map((name) => sanitizeText(name, "stored"));
};

const NOUNS: Record<ConfigurationNoun, Operation> = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
};

type List = {
  operation: Operation;
  args: CallArguments;
  budget: number;
  /** Shortens a record before it is counted. */
  shorten?: (record: Fields) => Fields;
};

const readRecords = async (
  { broker, now }: CallerContext,
  { operation, args, budget, shorten }: List,
  options: CallOptions,
): Promise<Part> => {
  const readPage = async (page: CallArguments) => {
    const reply = await broker.call(operation, page, options);
    if (shorten === undefined || !Array.isArray(reply.output)) return reply;
    return { ...reply, output: reply.output.map(shorten) };
  };
  const { items, total, position } = await readList(operation, args, readPage, {
    from: null,
    budget,
    now,
  });
  return { items, total, truncated: position !== null };
};

const BRIEF_FIELDS = ["code", "isValid", "defaultInternalReasonCode"];
const BRIEF_CHARACTERS = 40;

/** Returns what tools take and people say of a record of the configuration: codes and names, no ids. */
const toBrief = (record: Fields): Fields => {
  const { person, active, description } = record;
  const { firstName, lastName, email } = (person ?? {}) as Fields;
  const fields = {
    ...Object.fromEntries(BRIEF_FIELDS.map((name) => [name, record[name]])),
    ...(typeof description === "string"
      ? { description: cutText(description, BRIEF_CHARACTERS) }
      : {}),
    ...(person === undefined ? {} : { email, name: [firstName, lastName].join(" ").trim() }),
    ...(active === false ? { active } : {}),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
};

/** Reads the tenant's dispute configuration, with `brief` codes and names alone; the nouns share the answer's budget. */
export const readConfiguration = async (
  context: CallerContext,
  nouns: readonly ConfigurationNoun[],
  { brief = false, ...options }: CallOptions & { brief?: boolean },
): Promise<Fields> => {
  const shorten = brief ? { shorten: toBrief } : {};
  const budget = context.settings.answerTokens - MARGIN_TOKENS * (nouns.length + 1);
  const parts = await Promise.all(
    nouns.map(async (noun) => {
      const list = { operation: NOUNS[noun], args: {}, budget, ...shorten };
      return { noun, part: await readRecords(context, list, options) };
    }),
  );
  const costs = parts.map(({ part }) => cost(part));
  const shares = fairShares(costs, budget);
  return Object.fromEntries(
    parts.map(({ noun, part }, index) => [noun, truncatePart(part, shares[index] ?? 0)]),
  );
};

/** Reads a dispute by its id or code. The record gets half of the budget, its notes and files share the rest. */
export const readDispute = async (
  context: CallerContext,
  name: string,
  options: CallOptions,
): Promise<Fields> => {
  const { broker, settings } = context;
  const disputeId = await findDisputeId(broker, name, options);
  const { output } = await broker.call(contract.disputes.get, { disputeId }, options);
  const budget = settings.answerTokens - MARGIN_TOKENS;
  const { record } = truncateToBudget(
    wordsFor(contract.disputes.get)(output),
    Math.floor(budget / 2),
  );
  const left = budget - cost(record) - 2 * MARGIN_TOKENS;
  const read = (operation: Operation): Promise<Part> =>
    readRecords(context, { operation, args: { disputeId }, budget: left }, options);
  const [notes, attachments] = await Promise.all([
    read(contract.dispute_notes.list),
    read(contract.dispute_attachments.list),
  ]);
  const [noteShare = 0, fileShare = 0] = fairShares([cost(notes), cost(attachments)], left);
  return {
    dispute: record,
    notes: truncatePart(notes, noteShare),
    attachments: truncatePart(attachments, fileShare),
  };
};
