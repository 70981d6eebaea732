import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Document } from "../contract/operations/documents.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import type { InsightContext } from "./insight.ts";

/** A document as disputes need it. `unknown`: it was not read. */
export type DocumentState = {
  status: Document["status"] | "missing" | "unknown";
  document?: Document;
};

/** Documents by number, each read once. */
export type DocumentReader = {
  /** Reads those that are not known yet, within the limit of all reads and, if given, of this one. */
  read(numbers: Iterable<string>, most?: number): Promise<void>;
  stateOf(number: string): DocumentState;
  /** Sentences about documents that were not read. */
  notes(): string[];
};

const UNKNOWN: DocumentState = { status: "unknown" };
const CONCURRENT = 8;

const isMissing = (error: unknown): boolean => error instanceof Problem && error.status === 404;

/** Whether the right or the credential is missing, or the platform is busy, as it then is for every document. */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && [401, 403, 429, 503].includes(error.status);

/** Creates a reader of at most `limit` documents. */
export const createDocumentReader = (
  { call, signal }: InsightContext,
  limit: number,
): DocumentReader => {
  const states = new Map<string, DocumentState>();
  const unread = new Set<string>();
  let refusal: Problem | undefined;

  const load = async (number: string): Promise<DocumentState> => {
    if (refusal !== undefined) return UNKNOWN;
    try {
      const { output } = await call(contract.documents.get, { document_number: number });
      const document = output as Document;
      return { status: document.status, document };
    } catch (error) {
      if (isMissing(error)) return { status: "missing" };
      if (signal.aborted || !isRefusal(error)) throw error;
      refusal = error;
      return UNKNOWN;
    }
  };

  return {
    async read(numbers, most = limit) {
      const wanted = [...new Set(numbers)].filter((number) => !states.has(number));
      const now = wanted.slice(0, Math.max(0, Math.min(most, limit - states.size)));
      for (const number of wanted.slice(now.length)) unread.add(number);
      const one = async (number: string) => ({ number, state: await load(number) });
      for await (const { number, state } of mapConcurrent(now, CONCURRENT, one)) {
        states.set(number, state);
      }
    },
    stateOf: (number) => states.get(number) ?? UNKNOWN,
    notes: () => [
      ...(refusal === undefined
        ? []
        : [`Documents were not read, so their status is unknown: ${refusal.message}`]),
      ...(unread.size === 0
        ? []
        : [`The status of ${unread.size} documents is unknown: an answer reads at most ${limit}.`]),
    ],
  };
};
