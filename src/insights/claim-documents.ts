import { contract } from "../contract/index.ts";
import { isSameNumber, toNumberKey } from "../contract/number-key.ts";
import type { DocumentWithClosing } from "../contract/operations/documents.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { askClosure } from "./document-reader.ts";
import { addToList } from "./groups.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";
import { readInAnyCase } from "./spellings.ts";

const { documents } = contract;

const CONCURRENT = 4;

/** Finds the documents that a reference on a claim may mean. */
export type DocumentFinder = {
  find(reference: string): readonly DocumentWithClosing[];
  /** Why references could not be looked up. */
  notes: readonly string[];
};

const listNumbers = (one: DocumentWithClosing): string[] =>
  [one.documentNumber, one.invoice_num, one.po_number].filter((number) => number !== undefined);

/** Documents by the keys of their numbers: computing these for each reference would take long. */
const indexByKey = (known: readonly DocumentWithClosing[]) => {
  const byKey = new Map<string, DocumentWithClosing[]>();
  for (const one of known) {
    for (const key of new Set(listNumbers(one).map(toNumberKey))) addToList(byKey, key, one);
  }
  return byKey;
};

/** Documents that are written exactly as the reference come before those that only have its key. */
const chooseWritten = (
  found: readonly DocumentWithClosing[],
  reference: string,
): readonly DocumentWithClosing[] => {
  const written = found.filter((one) => listNumbers(one).includes(reference));
  return written.length > 0 ? written : found;
};

const LEAST_DIGITS = 4;

/**
 * Returns the number after the words before it, as in `Invoice 4711`, `inv. 4711` and `#4711`; undefined where there
 * are none, or the rest is too short to be meant.
 */
const dropWords = (reference: string): string | undefined => {
  const rest = reference.normalize("NFKC").replace(/^[^\p{N}]+/u, "");
  const digits = rest.replaceAll(/[^\p{N}]/gu, "").length;
  return rest === reference || digits < LEAST_DIGITS ? undefined : rest;
};

/** The spellings of a number that are tried where the platform looks up exact numbers only. */
const listSpellings = (reference: string): string[] => [
  ...new Set([
    reference,
    ...[toNumberKey(reference)].filter((key) => isSameNumber(key, reference)),
    reference.replaceAll(/\s+/g, ""),
    dropWords(reference) ?? reference,
  ]),
];

const readExact = async (
  context: InsightContext,
  reference: string,
  refuse: (reason: string) => void,
): Promise<DocumentWithClosing[]> => {
  for (const spelling of listSpellings(reference)) {
    const found = await readInAnyCase(context, "document", spelling, async (number) => {
      const part = await readPart(context, documents.get, {
        document_number: number,
        ...askClosure(context),
      });
      if (part.refused === undefined) return [part.value];
      if (!part.refused.isAbsent) refuse(part.refused.reason);
      return [];
    });
    if (found.length > 0) return [...found];
  }
  return [];
};

const EXACT_ONLY =
  "This platform looks up documents by their whole number only: invoice and purchase order numbers are not found.";

const TRUNCATED =
  "Some references name more documents than are read at once; name documents or invoices, or fewer lines.";

/** Looks up all references at once where the platform can, otherwise one by one. */
export const readClaimDocuments = async (
  context: InsightContext,
  references: string[],
): Promise<DocumentFinder> => {
  const canLookUp = context.extensions.has(documents.lookup.id);
  const known: DocumentWithClosing[] = [];
  const notes: string[] = [];
  const refuse = (reason: string): void => {
    notes.push(`Documents were not read: ${reason}`);
  };
  if (canLookUp && references.length > 0) {
    const numbers = [...references, ...references.flatMap((one) => dropWords(one) ?? [])];
    const part = await readPart(context, documents.lookup, { numbers });
    if (part.refused === undefined) {
      for (const one of part.value.data) known.push(one);
      if (part.value.truncated === true) notes.push(TRUNCATED);
    } else refuse(part.refused.reason);
  } else if (references.length > 0) notes.push(EXACT_ONLY);
  const byKey = indexByKey(known);
  const found = new Map<string, readonly DocumentWithClosing[]>();
  const findSame = (reference: string) =>
    (byKey.get(toNumberKey(reference)) ?? []).filter((one) =>
      listNumbers(one).some((number) => isSameNumber(number, reference)),
    );
  const findKnown = (reference: string) => {
    const own = findSame(reference);
    return own.length > 0 ? own : findSame(dropWords(reference) ?? "");
  };
  const read = async (reference: string) => {
    const own = canLookUp ? findKnown(reference) : await readExact(context, reference, refuse);
    return { reference, own };
  };
  for await (const { reference, own } of mapConcurrent(references, CONCURRENT, read)) {
    found.set(reference, chooseWritten(own, reference));
  }
  return { find: (reference) => found.get(reference) ?? [], notes };
};
