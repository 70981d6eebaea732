import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { parseDisputeCode } from "./dispute-code.ts";
import type { InsightContext } from "./insight.ts";

const { disputes } = contract;

const DISPUTES_OF_DOCUMENT = 1000;
const MAX_QUOTED = 100;

const findByCode = async (
  { call }: InsightContext,
  code: string,
  documentNumber: string,
): Promise<Dispute | undefined> => {
  const args = { DocumentNumber: documentNumber, Page: 1, PageSize: DISPUTES_OF_DOCUMENT };
  const { output } = await call(disputes.list, args);
  const wanted = code.toLowerCase();
  return (output as Dispute[]).find(({ disputeCode }) => disputeCode.toLowerCase() === wanted);
};

const isAbsence = (error: unknown): boolean => error instanceof Problem && error.status === 404;

/** Finds a dispute by its code, such as `D-INV-7-01`, or by its id; undefined if there is none. */
export const findDispute = async (
  context: InsightContext,
  name: string,
): Promise<Dispute | undefined> => {
  const documentNumber = parseDisputeCode(name);
  const found =
    documentNumber === undefined ? undefined : await findByCode(context, name, documentNumber);
  if (found !== undefined) return found;
  try {
    const { output } = await context.call(disputes.get, { disputeId: name });
    return output as Dispute;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
};

/** @throws {Problem} `not_found` if no dispute has the code or id */
export const requireDispute = async (context: InsightContext, name: string): Promise<Dispute> => {
  const dispute = await findDispute(context, name);
  if (dispute !== undefined) return dispute;
  const quoted = JSON.stringify(name.slice(0, MAX_QUOTED));
  throw new Problem("not_found", `No dispute has the code or id ${quoted}.`);
};
