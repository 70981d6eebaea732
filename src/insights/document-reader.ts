import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { ArgsOf } from "../contract/operation.ts";
import type { Document, DocumentWithClosing } from "../contract/operations/documents.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { toTenantDay } from "./brief.ts";
import { callSummary, type InsightContext } from "./insight.ts";
import { isAbsence } from "./read-part.ts";

/** A document as disputes need it. `unknown`: it was not read. */
export type DocumentState = {
  status: Document["status"] | "missing" | "unknown";
  /** The day of the last change, on which a closed document was closed at the latest. */
  changedOn?: string | null;
  /** The day of the closing, where the platform tells it. */
  closedOn?: string | null;
};

/** Documents by number, each read once. */
export type DocumentReader = {
  /** Reads those that are not known yet, within the limit of all calls and, if given, of this reading. */
  read(numbers: Iterable<string>, most?: number): Promise<void>;
  stateOf(number: string): DocumentState;
  /** Takes the state of a document that was read elsewhere. */
  learn(number: string, state: DocumentState): void;
  /** Reads the days on which closed documents were closed, in at most so many calls. */
  readClosings(numbers: Iterable<string>, most: number): Promise<void>;
  /** Why no document can be read: the right or the credential is missing. */
  refusal(): Problem | undefined;
  /** Sentences about documents that were not read. */
  notes(): string[];
};

type States = Map<string, DocumentState>;

const UNKNOWN: DocumentState = { status: "unknown" };
const MISSING: DocumentState = { status: "missing" };
const CONCURRENT = 8;
const PAGE_ROWS = 1000;
/** Fewer are read one by one, although the platform has a list. */
const MANY = 20;

const { disputes, documents } = contract;

const DENIED: readonly number[] = [401, 403];
const BUSY: readonly number[] = [429, 503];

/** Whether the right or the credential is missing, or the platform is busy, as it then is for every document. */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && [...DENIED, ...BUSY].includes(error.status);

const toState = (
  { calendar }: InsightContext,
  { status, updatedAt, closedAt }: DocumentWithClosing,
): DocumentState => ({
  status,
  changedOn: toTenantDay(calendar, updatedAt),
  closedOn: toTenantDay(calendar, closedAt),
});

type Closable = typeof documents.get | typeof documents.list;

/** The parameter for day and reason of the closing, as the platform announces it. */
const nameClosure = ({ id, additions }: Closable): string => `${id}.${additions?.name}`;
const CLOSURE = nameClosure(documents.get);

/** Returns the argument for day and reason of the closing, where the platform knows it. */
export const askClosure = (
  { extensions }: Pick<InsightContext, "extensions">,
  operation: Closable = documents.get,
): { closure?: true } => (extensions.has(nameClosure(operation)) ? { closure: true } : {});

const readOne = async (context: InsightContext, number: string): Promise<DocumentState> => {
  try {
    const args = { document_number: number, ...askClosure(context) };
    return toState(context, (await context.call(documents.get, args)).output);
  } catch (error) {
    if (isAbsence(error)) return MISSING;
    throw error;
  }
};

const readEach = async (
  context: InsightContext,
  numbers: readonly string[],
  states: States,
): Promise<void> => {
  const read = async (number: string) => ({ number, state: await readOne(context, number) });
  for await (const { number, state } of mapConcurrent(numbers, CONCURRENT, read)) {
    states.set(number, state);
  }
};

/** Pages in which documents are sought before the platform is asked which disputes are on closed or missing ones. */
const PAGES_FIRST = 5;
const NUMBERS_PER_CALL = 50;
/** A document may have disputes in several currencies, each a group of its own. */
const GROUPS_PER_CALL = 200;
const OTHER_THAN_OPEN = ["closed", "missing"] as const;

const countAsked = (numbers: number): number =>
  OTHER_THAN_OPEN.length * Math.ceil(numbers / NUMBERS_PER_CALL);

/** Asks which disputes are on closed or missing documents: much less is read than all documents of a large ledger. */
const askDisputes = async (
  context: InsightContext,
  numbers: readonly string[],
  states: States,
): Promise<void> => {
  for (let from = 0; from < numbers.length; from += NUMBERS_PER_CALL) {
    const some = numbers.slice(from, from + NUMBERS_PER_CALL);
    for (const status of OTHER_THAN_OPEN) {
      const { items } = await callSummary(context, disputes.summary, {
        documentNumber: some,
        documentStatus: status,
        groupBy: ["document"],
        limit: GROUPS_PER_CALL,
      });
      for (const { key } of items) states.set(String(key["document"]), { status });
    }
    for (const number of some) if (!states.has(number)) states.set(number, { status: "open" });
  }
};

/** Looks for documents in at most `most` calls; those that a complete list does not have are missing. */
const findInList = async (
  context: InsightContext,
  numbers: readonly string[],
  states: States,
  most: number,
): Promise<number> => {
  const { call, extensions } = context;
  const left = new Set(numbers);
  const canAsk = extensions.has(disputes.summary.id);
  let cursor: string | null = null;
  for (let page = 1; page <= most; page += 1) {
    const args: ArgsOf<typeof documents.list> = { limit: PAGE_ROWS, cursor: cursor ?? undefined };
    const { data, pagination } = (await call(documents.list, args)).output;
    await forEachInTurns(data, (document) => {
      const { documentNumber } = document;
      if (left.delete(documentNumber)) states.set(documentNumber, toState(context, document));
    });
    const isEnd = pagination.cursor === null || pagination.cursor === cursor;
    if (isEnd) await forEachInTurns(left, (number) => void states.set(number, MISSING));
    if (isEnd || left.size === 0) return page;
    const expectedCalls = countAsked(left.size);
    if (canAsk && page >= PAGES_FIRST && page + expectedCalls <= most) {
      await askDisputes(context, [...left], states);
      return page + expectedCalls;
    }
    ({ cursor } = pagination);
  }
  return most;
};

/** Lists the different numbers of documents whose states are not known. */
const listMissing = async (
  numbers: Iterable<string>,
  states: ReadonlyMap<string, DocumentState>,
): Promise<string[]> => {
  const missing = new Set<string>();
  await forEachInTurns(numbers, (number) => {
    if (!states.has(number)) missing.add(number);
  });
  return [...missing];
};

/** Creates a reader that makes at most `limit` calls: a document each, or pages of documents where they are listed. */
export const createDocumentReader = (context: InsightContext, limit: number): DocumentReader => {
  const states: States = new Map();
  const unread = new Set<string>();
  let [calls, refusal]: [number, Problem | undefined] = [0, undefined];

  const load = async (missing: readonly string[], most: number): Promise<void> => {
    if (missing.length > MANY && context.extensions.has(documents.list.id)) {
      calls += await findInList(context, missing, states, most);
      return;
    }
    const now = missing.slice(0, most);
    calls += now.length;
    await readEach(context, now, states);
  };

  return {
    async read(numbers, most = limit) {
      const missing = await listMissing(numbers, states);
      if (missing.length === 0 || refusal !== undefined) return;
      try {
        await load(missing, Math.max(0, Math.min(most, limit - calls)));
      } catch (error) {
        if (context.signal.aborted || !isRefusal(error)) throw error;
        refusal = error;
      }
      for (const number of await listMissing(missing, states)) unread.add(number);
    },
    async readClosings(numbers, most) {
      if (!context.extensions.has(CLOSURE)) return;
      const isUndated = (number: string): boolean => {
        const { status, closedOn } = states.get(number) ?? UNKNOWN;
        return status === "closed" && typeof closedOn !== "string";
      };
      const undated = [...new Set(numbers)].filter(isUndated);
      try {
        await readEach(context, undated.slice(0, Math.max(0, most)), states);
      } catch (error) {
        if (context.signal.aborted || !isRefusal(error)) throw error;
      }
    },
    refusal: () => (refusal !== undefined && DENIED.includes(refusal.status) ? refusal : undefined),
    stateOf: (number) => states.get(number) ?? UNKNOWN,
    learn: (number, state) => void states.set(number, state),
    notes: () => [
      ...(refusal === undefined
        ? []
        : [`Documents were not read, so their status is unknown: ${refusal.message}`]),
      ...(unread.size === 0 || refusal !== undefined
        ? []
        : [`The status of ${unread.size} documents is unknown: an answer reads at most ${limit}.`]),
    ],
  };
};
