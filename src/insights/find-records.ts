import { z } from "zod";
import { oneOrMore } from "../contract/insights/arguments.ts";
import { requiredText } from "../contract/fields.ts";
import { contract } from "../contract/index.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { hasMoreCharacters } from "../kit/text.ts";
import {
  type AccountHit,
  AccountPlace,
  findAccounts,
  findSimilarAccounts,
  placeAccounts,
} from "./find-accounts.ts";
import { askClosure } from "./document-reader.ts";
import { guessDocumentNumbers } from "./dispute-code.ts";
import { isPart } from "./dispute-names.ts";
import { findDispute } from "./find-dispute.ts";
import { defineInsight, type InsightContext, mostItems } from "./insight.ts";
import { attemptPart, readPart } from "./read-part.ts";
import { rememberCalls } from "./remember-calls.ts";
import { findSpellings, LISTED, type NumberKind, readInAnyCase } from "./spellings.ts";

const { disputes, documents, payments } = contract;

const TYPES = ["account", "document", "dispute", "payer"] as const;
type RecordType = (typeof TYPES)[number];

const LIMIT = 10;
const DISPUTES_READ = 50;
const ROWS_READ = 1000;

/** The tool that reads a record of each type. */
const TOOLS: Record<RecordType, string> = {
  account: "account_overview",
  document: "documents_get",
  dispute: "dispute_packet",
  payer: "payments_summarize",
};

/** A record, with the texts in which the search may have found it. */
type Found = {
  type: RecordType;
  id: string;
  label: string;
  texts: Record<string, string | null>;
  /** Of accounts. */
  place?: AccountPlace | undefined;
};

type Searched = {
  found: Found[];
  notes: readonly string[];
  /** More records match than were read. */
  isPartial: boolean;
};

type Search = (context: InsightContext, text: string) => Promise<Searched>;

const notSearched = (what: string, reason: string): Searched => ({
  found: [],
  notes: [`${what} were not searched: ${reason}`],
  isPartial: false,
});

const toFoundAccount = ({ accountNumber, name, place }: AccountHit): Found => ({
  type: "account",
  id: accountNumber,
  label: name ?? accountNumber,
  texts: { accountNumber, name },
  place,
});

const searchAccounts: Search = async (context, text) => {
  const { hits, notes, isPartial } = await findAccounts(context, text);
  return { found: hits.map(toFoundAccount), notes, isPartial };
};

/** The status, with day and reason of a closing where the platform tells them. */
const describeStatus = (
  { calendar }: InsightContext,
  { status, closedAt, closure_reason: reason }: DocumentWithClosing,
): string =>
  [
    status,
    typeof closedAt === "string" ? ` on ${calendar.toDay(closedAt)}` : "",
    typeof reason === "string" ? ` (${reason})` : "",
  ].join("");

const toFoundDocument = (context: InsightContext, document: DocumentWithClosing): Found => {
  const { documentNumber, document_type, account_number } = document;
  return {
    type: "document",
    id: documentNumber,
    label: `${document_type} of account ${account_number}, ${describeStatus(context, document)}`,
    texts: {
      documentNumber,
      invoiceNumber: document.invoice_num ?? null,
      poNumber: document.po_number ?? null,
    },
  };
};

const readDocument = (context: InsightContext, number: string) =>
  readPart(context, documents.get, { document_number: number, ...askClosure(context) });

const isListed = (context: InsightContext): boolean => context.extensions.has(documents.list.id);

const listDocuments: Search = async (context, text) => {
  const part = await readPart(context, documents.list, {
    search: text,
    limit: LISTED.document,
    ...askClosure(context, documents.list),
  });
  if (part.refused !== undefined) return notSearched("Documents", part.refused.reason);
  const { data, pagination } = part.value;
  return {
    found: data.map((one) => toFoundDocument(context, one)),
    notes: [],
    isPartial: pagination.hasMore,
  };
};

const NO_DOCUMENT_LIST =
  "This platform does not list documents: they are found by their whole number only.";

/** Reads the documents whose number is the text in another letter case. */
const readRespelt = async (context: InsightContext, text: string): Promise<Found[]> => {
  const numbers = await findSpellings(context, "document", text);
  const parts = await Promise.all(numbers.map((number) => readDocument(context, number)));
  return parts.flatMap((part) =>
    part.refused === undefined ? [toFoundDocument(context, part.value)] : [],
  );
};

const searchDocuments: Search = async (context, text) => {
  const part = await readDocument(context, text);
  if (part.refused !== undefined && !part.refused.isAbsent) {
    return notSearched("Documents", part.refused.reason);
  }
  const exact = part.refused === undefined ? [toFoundDocument(context, part.value)] : [];
  if (!isListed(context)) {
    const found = exact.length > 0 ? exact : await readRespelt(context, text);
    return { found, notes: [NO_DOCUMENT_LIST], isPartial: false };
  }
  const { found, ...rest } = await listDocuments(context, text);
  const unique = new Map([...exact, ...found].map((one) => [one.id, one]));
  return { ...rest, found: [...unique.values()] };
};

const toFoundDispute = (dispute: Dispute): Found => {
  const { disputeCode, documentNumber, accountNumber, accountName = null } = dispute;
  return {
    type: "dispute",
    id: disputeCode,
    label: `${dispute.amount} ${dispute.currencyCode}, ${dispute.reasonName}, ${accountName ?? accountNumber}`,
    texts: { disputeCode, documentNumber, accountNumber, accountName },
  };
};

/** The filters of disputes.list beyond the documents, as the platform announces them. */
const NAME_FILTER = `${disputes.list.id}.${disputes.list.additions?.name}`;

const readByCodePart = async (context: InsightContext, text: string): Promise<Dispute[]> => {
  const read = async (number: string): Promise<Dispute[]> => {
    const filter = { DocumentNumber: number, Page: 1, PageSize: DISPUTES_READ };
    const part = await readPart(context, disputes.list, filter);
    return part.refused === undefined
      ? part.value.filter(({ disputeCode }) => isPart(disputeCode, text))
      : [];
  };
  const numbers = guessDocumentNumbers(text);
  const found = numbers.map((number) => readInAnyCase(context, "document", number, read));
  return (await Promise.all(found)).flat();
};

const searchDisputes: Search = async (context, text) => {
  const page = { Sort: "-CreateDate", Page: 1, PageSize: DISPUTES_READ };
  const spell = async (kind: NumberKind) => [text, ...(await findSpellings(context, kind, text))];
  const numbers = [
    ...(await spell("document")).map((number) => ({ DocumentNumber: number })),
    ...(await spell("account")).map((number) => ({ AccountNumber: number })),
  ];
  const names = context.extensions.has(NAME_FILTER) ? [{ AccountName: text }] : [];
  const listed = await Promise.all(
    [...numbers, ...names].map((filter) =>
      readPart(context, disputes.list, { ...filter, ...page }),
    ),
  );
  const [refusal] = listed.flatMap(({ refused }) => refused ?? []);
  if (refusal !== undefined) return notSearched("Disputes", refusal.reason);
  const one = await attemptPart(context, disputes.get, () => findDispute(context, text));
  const named = one.refused === undefined ? one.value : undefined;
  const pages = listed.map((part) => ("value" in part ? part.value : []));
  const byCode = await readByCodePart(context, text);
  const found = new Map(
    [...pages.flat(), ...byCode].map((one) => [one.disputeId, toFoundDispute(one)]),
  );
  if (named !== undefined && !found.has(named.disputeId)) {
    const name = named.disputeId === text ? "disputeId" : "disputeCode";
    found.set(named.disputeId, { ...toFoundDispute(named), texts: { [name]: text } });
  }
  return {
    found: [...found.values()],
    notes:
      one.refused === undefined ? [] : notSearched("Ids of disputes", one.refused.reason).notes,
    isPartial: pages.some(({ length }) => length === DISPUTES_READ),
  };
};

const PAYER_ID = { cashapp: null, bpn: "payerId" } as const;

const searchPayersOf =
  (source: keyof typeof PAYER_ID): Search =>
  async (context, text) => {
    const idField = PAYER_ID[source];
    const part = await readPart(context, payments.query, {
      source,
      fields: ["payerName", ...(idField === null ? [] : [idField])],
      filters: { payerName: { contains: text } },
      limit: ROWS_READ,
    });
    if (part.refused !== undefined) return notSearched("Payers", part.refused.reason);
    const payers = new Map<string, Found>();
    for (const row of part.value.data) {
      const { payerName: name, [idField ?? ""]: payerId } = row;
      if (typeof name !== "string") continue;
      const id = typeof payerId === "string" ? payerId : name;
      payers.set(id, {
        type: "payer",
        id,
        label: `${name} (${source})`,
        texts: { payerName: name },
      });
    }
    const isPartial = part.value.pagination.hasMore;
    const notes = isPartial
      ? [`Payers of ${source} are those of the first ${ROWS_READ} matching payment rows.`]
      : [];
    return { found: [...payers.values()], notes, isPartial };
  };

const searchPayers: Search = async (context, text) => {
  const results = await Promise.all([
    searchPayersOf("cashapp")(context, text),
    searchPayersOf("bpn")(context, text),
  ]);
  return {
    found: results.flatMap(({ found }) => found),
    notes: results.flatMap(({ notes }) => notes),
    isPartial: results.some(({ isPartial }) => isPartial),
  };
};

const SEARCHES: Record<RecordType, Search> = {
  account: searchAccounts,
  document: searchDocuments,
  dispute: searchDisputes,
  payer: searchPayers,
};

const EXACT = 0;
const PREFIX = 1;
const PART = 2;
const ELSEWHERE = 3;

const rankText = (text: string | null, target: string): number => {
  const folded = text?.normalize("NFC").toLowerCase() ?? "";
  if (folded === target) return EXACT;
  if (folded.startsWith(target)) return PREFIX;
  return folded.includes(target) ? PART : ELSEWHERE;
};

/** Ranks a record by the text that fits best. */
const rank = (record: Found, target: string) => {
  const [best = ["", ELSEWHERE] as const] = Object.entries(record.texts)
    .map(([name, text]) => [name, rankText(text, target)] as const)
    .toSorted(([, a], [, b]) => a - b);
  const [matchedOn, place] = best;
  return { record, matchedOn, place };
};

const byRank = (a: ReturnType<typeof rank>, b: ReturnType<typeof rank>): number =>
  a.place - b.place ||
  TYPES.indexOf(a.record.type) - TYPES.indexOf(b.record.type) ||
  (a.record.id < b.record.id ? -1 : 1);

const SIMILAR = "Nothing has this text; these accounts have similar names.";
const NOTHING =
  "Nothing has this text. payments_query finds payments by paymentId, assignees_list people, credit_applications_list applicants.";
const NOTHING_READ = "Nothing of what could be searched has this text.";
const PARTIAL = "More records match than were read; a longer text finds fewer.";

const SHORT =
  "Fewer than 3 characters find accounts and documents by the beginning of a name or number only.";
const SHORTEST_PART = 3;

const toSimilar = (hit: AccountHit): Found => ({
  ...toFoundAccount(hit),
  texts: { similarName: hit.name },
});

/** Shows records; several accounts with where each of them is. */
const showItems = async (context: InsightContext, ranked: readonly ReturnType<typeof rank>[]) => {
  const accounts = ranked.flatMap(({ record: { type, id, label, place } }) =>
    type === "account" ? [{ accountNumber: id, name: label, place }] : [],
  );
  const placed = accounts.length > 1 ? await placeAccounts(context, accounts) : accounts;
  const places = new Map(placed.map(({ accountNumber, place }) => [accountNumber, place]));
  return ranked.map(({ record: { type, id, label }, matchedOn }) => ({
    type,
    id,
    label,
    ...(type === "account" ? places.get(id) : {}),
    matchedOn,
    tool: TOOLS[type],
  }));
};

/** Finds accounts, documents, disputes and payers by what people call them. */
export const findRecords = defineInsight({
  name: "find_records",
  title: "Find records",
  input: z.strictObject({
    text: requiredText(200).meta({
      description: "number, code or part of a name",
      examples: ["Acme"],
    }),
    types: oneOrMore(z.enum(TYPES)).optional().meta({ description: "default: all" }),
    limit: z.int().min(1).max(100).default(LIMIT).meta({ description: "default 10" }),
  }),
  item: z.object({
    type: z.string(),
    id: z.string(),
    label: z.string(),
    ...AccountPlace.shape,
    matchedOn: z.string(),
    tool: z.string(),
  }),
  needs: [],
  async run(given, { text, types = [...TYPES], limit }) {
    const { context, isWhole } = rememberCalls(given);
    const asOf = formatTimestamp(context.now());
    const foldedText = text.trim().normalize("NFC").toLowerCase();
    const search = async (type: RecordType): Promise<Searched> => {
      const searched = await SEARCHES[type](context, text.trim());
      await context.progress(`Searched ${type}s.`);
      return searched;
    };
    const results = await Promise.all(types.map(search));
    const hits = results.flatMap(({ found }) => found);
    const isMissing = hits.length === 0 && types.includes("account");
    const similar = isMissing ? await findSimilarAccounts(context, text) : [];
    const ranked = [...hits, ...similar.map(toSimilar)]
      .map((record) => rank(record, foldedText))
      .toSorted(byRank);
    const truncated = results.some(({ isPartial }) => isPartial);
    const notes = [
      ...(similar.length > 0 ? [SIMILAR] : []),
      ...(ranked.length > 0 ? [] : [isWhole() ? NOTHING : NOTHING_READ]),
      ...(truncated ? [PARTIAL] : []),
      ...(!hasMoreCharacters(foldedText, SHORTEST_PART - 1) && isListed(context) ? [SHORT] : []),
      ...results.flatMap((one) => one.notes),
    ];
    return {
      asOf,
      filter: { text, types },
      rowCount: ranked.length,
      truncated,
      currencyTotals: [],
      notes: [...new Set(notes)],
      itemsTotal: ranked.length,
      items: await showItems(
        context,
        ranked.slice(given.skip, given.skip + mostItems(given, limit)),
      ),
    };
  },
});
