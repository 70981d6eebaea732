import type { DisputeFilters } from "../contract/insights/dispute-filters.ts";
import type { FamilyFilters } from "../contract/insights/families.ts";
import { findReopened, ONLY_SOME_REOPENED, type Reopened } from "../contract/insights/reopened.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { readReopenings } from "./audit-entries.ts";
import { createFilter, toListArguments } from "./dispute-filters.ts";
import { resolveNames } from "./dispute-names.ts";
import type { DocumentReader } from "./document-reader.ts";
import { createFamilyFilter, type Families, isCut } from "./families.ts";
import type { InsightContext } from "./insight.ts";
import type { Reading } from "./read-pages.ts";
import { type DisputeArguments, readDisputes } from "./read-disputes.ts";
import { canFindNumbers, respellArguments } from "./spellings.ts";
import { type Moment, standAt, type Standing, toMoment } from "./standing.ts";

type Matching = {
  evaluatedAt: Moment;
  /** The number of disputes that matched. */
  rowCount: number;
  truncated: boolean;
  notes: string[];
};

type Consumer = {
  /** Receives the disputes that match. */
  match: (standing: Standing, moment: Moment) => void;
  /** Receives every open dispute of the same accounts and documents, those that do not match included. */
  see?: (standing: Standing) => void;
  /** The parents of accounts, if the filters or groupings need them. */
  families?: Families | undefined;
};

const EXACT = ["AccountNumber", "DocumentNumber"] as const;

/**
 * Reads with the arguments, and with other spellings of their numbers: the platform compares numbers exactly, and the
 * filters ignore letter case. Where it cannot search numbers and none is found, all disputes are read.
 */
const readIgnoringCase = async (
  context: InsightContext,
  args: DisputeArguments,
  take: (disputes: readonly Dispute[]) => Promise<void>,
): Promise<Reading> => {
  const reading = await readDisputes(context, args, take);
  if (EXACT.every((name) => args[name] === undefined)) return reading;
  const total = { ...reading };
  for (const respelt of await respellArguments(context, args)) {
    // One after the other is fast enough: a number rarely has two spellings.
    const { rowCount, stopped } = await readDisputes(context, respelt, take);
    total.rowCount += rowCount;
    total.stopped ??= stopped;
  }
  if (total.rowCount > 0 || canFindNumbers(context)) return total;
  const { AccountNumber: _account, DocumentNumber: _document, ...rest } = args;
  return readDisputes(context, rest, take);
};

const UNREADABLE =
  "Disputes that had ended by then and have been reopened since count as open, because the audit log cannot be read:";

/** Reads the disputes that had ended at a past moment and have been reopened since: disputes do not tell that. */
export const readReopened = async (
  context: InsightContext,
  { at, isPast }: Moment,
): Promise<Reopened> => {
  if (!isPast) return { ended: new Map(), notes: [] };
  const part = await readReopenings(context, at + 1);
  if (part.refused !== undefined) {
    return { ended: new Map(), notes: [`${UNREADABLE} ${part.refused.reason}`] };
  }
  const { ended, notes } = await findReopened(part.value.reopenings, at);
  return { ended, notes: part.value.isCut ? [...notes, ONLY_SOME_REOPENED] : notes };
};

const describeUnknown = (count: number): string[] =>
  count === 0
    ? []
    : [`${count} disputes are left out, because the status of their documents is unknown.`];

/**
 * Reads the disputes that match the filters.
 *
 * @throws {Problem} invalid_parameter for names that the configuration does not have, or the platform's refusal
 */
export const readMatching = async (
  context: InsightContext,
  filters: DisputeFilters & FamilyFilters,
  documents: DocumentReader,
  { match, see, families }: Consumer,
): Promise<Matching> => {
  const asOf = toMoment(filters.asOf, context);
  const names = await resolveNames(context, filters);
  const reopened = await readReopened(context, asOf);
  const holds = createFilter(filters, names, context.calendar);
  const { documentStatus } = filters;
  const belongs = createFamilyFilter(families, filters);
  let [rowCount, unknown] = [0, 0];

  const isInStatus = ({ dispute }: Standing): boolean => {
    if (documentStatus === undefined) return true;
    const { status } = documents.stateOf(dispute.documentNumber);
    if (status === "unknown") unknown += 1;
    return status === documentStatus;
  };

  const reading = await readIgnoringCase(
    context,
    toListArguments(filters, names, see !== undefined),
    async (disputes) => {
      const fitting: Standing[] = [];
      await forEachInTurns(disputes, (dispute) => {
        const standing = standAt(dispute, asOf, reopened);
        if (standing === undefined) return;
        see?.(standing);
        if (holds(standing)) fitting.push(standing);
      });
      await families?.read(fitting.map(({ dispute }) => dispute.accountNumber));
      const held = fitting.filter(({ dispute }) => belongs(dispute.accountNumber));
      if (documentStatus !== undefined) {
        await documents.read(held.map(({ dispute }) => dispute.documentNumber));
        // A condition that cannot be judged would find nothing, which reads like an answer.
        const refusal = documents.refusal();
        if (refusal !== undefined) throw refusal;
      }
      await forEachInTurns(held, (one) => {
        if (!isInStatus(one)) return;
        rowCount += 1;
        match(one, asOf);
      });
    },
  );
  return {
    evaluatedAt: asOf,
    rowCount,
    truncated: reading.stopped !== undefined || unknown > 0 || isCut(families, filters),
    notes: [
      ...(reading.stopped === undefined ? [] : [reading.stopped]),
      ...names.notes,
      ...reopened.notes,
      ...describeUnknown(unknown),
      ...(families?.notes() ?? []),
    ],
  };
};
