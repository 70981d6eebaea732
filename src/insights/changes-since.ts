import { z } from "zod";
import { contract } from "../contract/index.ts";
import { Day, ItemLimit, oneOrMore, wordAmong } from "../contract/insights/arguments.ts";
import { disputeFilters } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { cutText, omitNulls } from "./brief.ts";
import {
  CHANGE_KINDS,
  type ChangeEvent,
  type ChangeKind,
  createOpenTest,
  disputeIdOf,
  type Entry,
  listDeletions,
  listDisputeEvents,
  listDocumentEvents,
  RECORDED_KINDS,
  toEntry,
} from "./change-events.ts";
import { addDisputes, readDisputesSince, readRecorded, type Span } from "./change-records.ts";
import {
  type Found,
  readCreditEvents,
  readExportEvents,
  readPaymentEvents,
} from "./change-sources.ts";
import { sumInTurns } from "./currency-totals.ts";
import { isPart, resolveNames } from "./dispute-names.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { addToList, selectItemsOf } from "./groups.ts";
import { defineInsight, type Fields, type InsightContext } from "./insight.ts";
import { readAssigneeNames, readNames } from "./people-names.ts";
import type { Part } from "./read-part.ts";

const Body = z.strictObject({
  since: Day.describe("first day, or time with offset"),
  until: Day.optional().describe("last day or time; default now"),
  assignee: disputeFilters.assignee,
  accountName: disputeFilters.accountName,
  kinds: oneOrMore(wordAmong(CHANGE_KINDS))
    .optional()
    .meta({ description: `any of ${CHANGE_KINDS.join(", ")}; default all` }),
  limit: ItemLimit,
});
type Arguments = z.output<typeof Body>;

const Item = z.object({
  kind: z.string(),
  at: z.string().meta({ description: "time in UTC; the day of a payment" }),
  by: z.string().optional().meta({ description: "who made the change" }),
  disputeCode: z.string().optional(),
  account: z.string().optional().meta({ description: "name, or number without one" }),
  documentNumber: z.string().optional(),
  amount: z.number().optional().meta({
    description: "of the dispute now; of a payment, applied; negative where it came back",
  }),
  currencyCode: z.string().optional(),
  detail: z
    .string()
    .optional()
    .meta({ description: "what has changed; of an opened dispute its reason" }),
});

const { disputes } = contract;

const DISPUTE_KINDS: readonly ChangeKind[] = ["opened", "closed", "canceled", "changed"];
const DOCUMENT_KINDS: readonly ChangeKind[] = ["documentClosed", "documentReopened", "payment"];
const CREDIT_KINDS: readonly ChangeKind[] = ["creditSubmitted", "creditDecided"];

type Kinds = ReadonlySet<ChangeKind>;

const hasAny = (kinds: Kinds, some: readonly ChangeKind[]): boolean =>
  some.some((kind) => kinds.has(kind));

/** Groups disputes by their document. */
const indexByDocument = async (known: Iterable<Dispute>) => {
  const onDocument = new Map<string, Dispute[]>();
  await forEachInTurns(known, (one) => addToList(onDocument, one.documentNumber, one));
  return (documentNumber: string): readonly Dispute[] => onDocument.get(documentNumber) ?? [];
};

const groupEntries = async (entries: readonly Entry[]): Promise<Map<string, Entry[]>> => {
  const groups = new Map<string, Entry[]>();
  await forEachInTurns(entries, (entry) => {
    const id = entry.action.startsWith("document.") ? undefined : disputeIdOf(entry);
    if (id !== undefined) addToList(groups, id, entry);
  });
  return groups;
};

type Read = { events: ChangeEvent[]; unknown: ChangeKind[]; notes: string[]; isCut: boolean };

const describeUnrecorded = (reason: string): string =>
  `What is recorded of changes cannot be read (${reason}), so reopenings, reassignments, notes, files and documents are unknown, and of each dispute only the last change is seen.`;

const OLD_ENTRIES =
  "Some changes do not say which fields they changed; a reassignment may be among them.";

/** Reads what happened to disputes and their documents, and the payments on these. */
const readDisputeEvents = async (
  context: InsightContext,
  span: Span,
  kinds: Kinds,
): Promise<Read> => {
  const isNeeded = hasAny(kinds, [...DISPUTE_KINDS, ...RECORDED_KINDS]);
  const withOpen = hasAny(kinds, DOCUMENT_KINDS);
  if (!isNeeded && !withOpen) return { events: [], unknown: [], notes: [], isCut: false };
  const { known, notes } = await readDisputesSince(context, span.from, withOpen);
  const recorded = isNeeded
    ? await readRecorded(context, span)
    : { changes: [], notes: [], isCut: false, refusal: undefined };
  const entries: Entry[] = [];
  await forEachInTurns(recorded.changes, (change) => entries.push(toEntry(change)));
  const byDispute = await groupEntries(entries);
  await addDisputes(context, known, byDispute.keys());
  const events: ChangeEvent[] = [];
  await forEachInTurns(known.values(), (dispute) => {
    const own = byDispute.get(dispute.disputeId) ?? [];
    for (const event of listDisputeEvents(dispute, own, span)) events.push(event);
  });
  const disputesOn = await indexByDocument(known.values());
  const openTests = new Map<Dispute, (at: number) => boolean>();
  const isOpen = (dispute: Dispute, at: number): boolean => {
    const test =
      openTests.get(dispute) ?? createOpenTest(dispute, byDispute.get(dispute.disputeId) ?? []);
    openTests.set(dispute, test);
    return test(at);
  };
  const openOn = (documentNumber: string, at: number): Dispute[] =>
    disputesOn(documentNumber).filter((one) => isOpen(one, at));
  // No spread into arguments: there may be more of them than a call can have.
  for (const event of await listDocumentEvents(entries, openOn, span)) events.push(event);
  for (const event of await listDeletions(entries)) events.push(event);
  const unclear = entries.some(
    ({ action, facts }) => action === "dispute.updated" && facts.changed === undefined,
  );
  const read: Read = {
    events,
    unknown: recorded.refusal === undefined ? [] : [...RECORDED_KINDS],
    notes: [
      ...notes,
      ...recorded.notes,
      ...(recorded.refusal === undefined ? [] : [describeUnrecorded(recorded.refusal)]),
      ...(unclear ? [OLD_ENTRIES] : []),
    ],
    isCut: notes.length > 0 || recorded.isCut,
  };
  if (!kinds.has("payment")) return read;
  const isWithin = ({ createDate, closedDate }: Dispute): boolean =>
    Date.parse(createDate) <= span.to &&
    (closedDate === null || Date.parse(closedDate) >= span.from);
  const part = await readPaymentEvents(context, span, (number) =>
    disputesOn(number).filter(isWithin),
  );
  return {
    ...addPart(read, part, ["payment"], "Payments"),
    isCut: read.isCut || (part.refused === undefined && part.value.isCut),
  };
};

/** Adds the events of a part, or why they are unknown. */
const addPart = (read: Read, part: Part<Found>, kinds: readonly ChangeKind[], name: string): Read =>
  part.refused === undefined
    ? {
        ...read,
        events: [...read.events, ...part.value.events],
        notes: [...read.notes, ...part.value.notes],
      }
    : {
        ...read,
        unknown: [...read.unknown, ...kinds],
        notes: [...read.notes, `${name} are unknown: ${part.refused.reason}`],
      };

const ELSEWHERE =
  "With assignee or accountName, exports and deletions are left out; with assignee, credit applications too.";

/** Creates the check of whether an event is about the account and the assignee that were asked for. */
const createFilter = async (
  context: InsightContext,
  { assignee, accountName }: Pick<Arguments, "assignee" | "accountName">,
) => {
  const names = await resolveNames(context, { assignee });
  const holds = (dispute: Dispute): boolean =>
    names.conditions.every((one) => one.holds(dispute)) &&
    (accountName === undefined || isPart(dispute.accountName, accountName));
  const isFiltered = assignee !== undefined || accountName !== undefined;
  const select = (event: ChangeEvent): ChangeEvent[] => {
    if (!isFiltered) return [event];
    const { company } = event.facts ?? {};
    if (typeof company === "string") {
      const fits = assignee === undefined && isPart(company, accountName ?? "");
      return fits ? [event] : [];
    }
    const own = event.disputes.filter(holds);
    return own.length === 0 ? [] : [{ ...event, disputes: own }];
  };
  return { select, notes: [...names.notes, ...(isFiltered ? [ELSEWHERE] : [])] };
};

const ERROR_CHARACTERS = 100;

type NameOf = (id: string) => string;

const describeDetail = (
  { kind, disputes: [dispute], facts = {} }: ChangeEvent,
  nameOf: NameOf,
): string | null => {
  const { fields, from, to, done, status, error, deduction, disputeId } = facts;
  if (Array.isArray(fields)) return fields.join(", ");
  if (typeof to === "string") return `from ${nameOf(String(from))} to ${nameOf(to)}`;
  if (typeof error === "string") return cutText(error, ERROR_CHARACTERS);
  if (typeof deduction === "number") return `deduction ${deduction}`;
  const [plain] = [done, status, disputeId].filter((one) => typeof one === "string");
  if (plain !== undefined) return plain;
  if (kind === "opened") return dispute?.reasonName ?? null;
  return kind === "closed" ? (dispute?.resolutionCode ?? null) : null;
};

const MOST_CODES = 3;

const listCodes = (all: readonly Dispute[]): string | null => {
  const codes = all.slice(0, MOST_CODES).map(({ disputeCode }) => disputeCode);
  const more = all.length - codes.length;
  if (codes.length === 0) return null;
  return more === 0 ? codes.join(", ") : `${codes.join(", ")} and ${more} more`;
};

const toItem = (event: ChangeEvent, nameOf: NameOf): Fields => {
  const [dispute] = event.disputes;
  const { facts = {} } = event;
  const [amount, currencyCode] =
    event.kind === "payment"
      ? [facts["amount"], facts["currencyCode"]]
      : [dispute?.amount, dispute?.currencyCode];
  return omitNulls({
    kind: event.kind,
    at: event.day ?? formatTimestamp(event.at),
    by: event.by === undefined ? null : nameOf(event.by),
    disputeCode: listCodes(event.disputes),
    account:
      facts["company"] ?? facts["scheduleName"] ?? dispute?.accountName ?? dispute?.accountNumber,
    documentNumber: event.documentNumber,
    amount,
    currencyCode,
    detail: describeDetail(event, nameOf),
  });
};

const MOST_NAME_CHARACTERS = 24;

/** Reads the names of people; a key, or a person who is gone, is named as such. */
const createNames = async (
  context: InsightContext,
  shown: readonly ChangeEvent[],
): Promise<{ nameOf: NameOf; notes: string[] }> => {
  const isNamed = shown.some(({ by, facts }) => by !== undefined || facts?.["to"] !== undefined);
  const people = isNamed ? await readNames(context) : { of: new Map<string, string>() };
  const assignees = shown.some(({ facts }) => facts?.["to"] !== undefined)
    ? await readAssigneeNames(context)
    : new Map<string, string>();
  const nameOf = (id: string): string => {
    if (id === "") return "no one";
    const name = people.of.get(id) ?? assignees.get(id);
    if (name !== undefined) return name;
    return id.length <= MOST_NAME_CHARACTERS ? id : "a key, or a former user";
  };
  const refused = "refused" in people ? people.refused : undefined;
  return {
    nameOf,
    notes: refused === undefined ? [] : [`by: names are incomplete. ${refused.reason}`],
  };
};

const byImportance = (a: ChangeEvent, b: ChangeEvent): number =>
  CHANGE_KINDS.indexOf(a.kind) - CHANGE_KINDS.indexOf(b.kind) ||
  b.at - a.at ||
  (keyOf(a) < keyOf(b) ? -1 : 1);

const keyOf = ({ disputes: [dispute], documentNumber, facts }: ChangeEvent): string =>
  JSON.stringify([dispute?.disputeCode, documentNumber, facts]);

/** Selects the events that were asked for, and the disputes that they concern. */
const selectEvents = async (
  all: readonly ChangeEvent[],
  kinds: Kinds,
  select: (event: ChangeEvent) => ChangeEvent[],
) => {
  const events: ChangeEvent[] = [];
  const concerned = new Map<string, Dispute>();
  await forEachInTurns(all, (one) => {
    if (!kinds.has(one.kind)) return;
    for (const event of select(one)) {
      events.push(event);
      for (const dispute of event.disputes) concerned.set(dispute.disputeId, dispute);
    }
  });
  return { events, concerned };
};

const countKinds = async (
  events: readonly ChangeEvent[],
  kinds: Kinds,
  unknown: readonly ChangeKind[],
): Promise<Record<string, number | null>> => {
  const counts = new Map<ChangeKind, number>();
  await forEachInTurns(events, ({ kind }) => void counts.set(kind, (counts.get(kind) ?? 0) + 1));
  return Object.fromEntries(
    CHANGE_KINDS.filter((kind) => kinds.has(kind)).map((kind) => [
      kind,
      unknown.includes(kind) ? null : (counts.get(kind) ?? 0),
    ]),
  );
};

/** Tells what happened between two moments: counts per kind, then the events, the most important first. */
export const changesSince = defineInsight({
  name: "changes_since",
  title: "What happened since a day",
  input: Body,
  item: Item,
  figures: z.object({
    counts: z
      .partialRecord(z.enum(CHANGE_KINDS), z.int().nullable())
      .meta({ description: "events of each kind; null: unknown" }),
  }),
  needs: [disputes.list],
  async run(context, args) {
    const { since, until, limit, kinds: chosen, ...filters } = args;
    const { calendar, now } = context;
    const to = until === undefined ? now() : calendar.endOf(until);
    const span: Span = { from: calendar.startOf(since), to };
    const kinds: Kinds = new Set((chosen as ChangeKind[] | undefined) ?? CHANGE_KINDS);
    const filter = await createFilter(context, filters);
    let read = await readDisputeEvents(context, span, kinds);
    if (hasAny(kinds, CREDIT_KINDS)) {
      const part = await readCreditEvents(context, span);
      read = addPart(read, part, CREDIT_KINDS, "Credit applications");
    }
    if (kinds.has("exportFailed")) {
      const part = await readExportEvents(context, span);
      read = addPart(read, part, ["exportFailed"], "Exports");
    }
    const { events, concerned } = await selectEvents(read.events, kinds, filter.select);
    const page = { limit, offset: context.skip };
    const shown = await selectItemsOf(events, page, byImportance);
    const { nameOf, notes } = await createNames(context, shown);
    return {
      asOf: formatTimestamp(now()),
      filter: omitNulls({ since, until, ...filters, kinds: chosen }),
      rowCount: events.length,
      truncated: read.isCut,
      counts: await countKinds(events, kinds, read.unknown),
      currencyTotals: await sumInTurns(concerned.values()),
      itemsTotal: events.length,
      notes: [...read.notes, ...filter.notes, ...notes],
      items: shown.map((event) => toItem(event, nameOf)),
    };
  },
});
