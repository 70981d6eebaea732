import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { parseDisputeCode } from "./dispute-code.ts";
import { fold } from "./dispute-names.ts";
import type { InsightContext } from "./insight.ts";
import { isAbsence } from "./read-part.ts";
import { type NumberContext, readInAnyCase } from "./spellings.ts";

const { disputes } = contract;

const DISPUTES_OF_DOCUMENT = 1000;
const MAX_QUOTED = 100;

const readOfDocument = async (
  { call }: NumberContext,
  documentNumber: string,
): Promise<Dispute[]> => {
  const args = { DocumentNumber: documentNumber, Page: 1, PageSize: DISPUTES_OF_DOCUMENT };
  return (await call(disputes.list, args)).output;
};

/** Returns the disputes with a code, in any letter case; none for a name that is no code. */
export const findByCode = async (
  context: NumberContext,
  name: string,
): Promise<readonly Dispute[]> => {
  const documentNumber = parseDisputeCode(name);
  if (documentNumber === undefined) return [];
  return readInAnyCase(context, "document", documentNumber, async (number) => {
    const all = await readOfDocument(context, number);
    return all.filter(({ disputeCode }) => fold(disputeCode) === fold(name));
  });
};

/** Finds a dispute by its code, such as `D-INV-7-01`, or by its id; undefined if there is none. */
export const findDispute = async (
  context: InsightContext,
  name: string,
): Promise<Dispute | undefined> => {
  const [found] = await findByCode(context, name);
  if (found !== undefined) return found;
  try {
    return (await context.call(disputes.get, { disputeId: name })).output;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
};

const MOST_NAMED = 10;

/**
 * Finds a dispute by its code or id, or by its document if no other dispute has that.
 *
 * @throws {Problem} `not_found`; names the disputes of the document if there are several
 */
export const requireDispute = async (context: InsightContext, name: string): Promise<Dispute> => {
  const dispute = await findDispute(context, name);
  if (dispute !== undefined) return dispute;
  const ofDocument = await readInAnyCase(context, "document", name, (number) =>
    readOfDocument(context, number),
  );
  const [only, ...others] = ofDocument;
  if (only !== undefined && others.length === 0) return only;
  const quoted = JSON.stringify(name.slice(0, MAX_QUOTED));
  const codes = ofDocument.slice(0, MOST_NAMED).map(({ disputeCode }) => disputeCode);
  const those = codes.length === 0 ? "" : ` The document has several: ${codes.join(", ")}.`;
  throw new Problem("not_found", `No dispute has the code or id ${quoted}.${those}`);
};
