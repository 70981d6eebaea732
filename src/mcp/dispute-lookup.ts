import type { Broker } from "../broker/port.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { contract } from "../contract/index.ts";
import { cleanText } from "./clean.ts";

type Known = Pick<Dispute, "disputeId" | "disputeCode">;
type Options = { tool: string; signal: AbortSignal };

const LOOKED_AT = 100;
export const MAX_COMPLETIONS = 100;
// D-<document number>-NN
const CODE = /^D-(?<documentNumber>.+)-\d{2,}$/i;

const isKnown = (value: unknown): value is Known =>
  typeof value === "object" &&
  value !== null &&
  "disputeId" in value &&
  typeof value.disputeId === "string" &&
  "disputeCode" in value &&
  typeof value.disputeCode === "string";

const look = async (
  broker: Broker,
  filter: Record<string, unknown>,
  options: Options,
): Promise<Known[]> => {
  const args = { ...filter, Page: 1, PageSize: LOOKED_AT };
  const { output } = await broker.call(contract.disputes.list, args, options);
  return Array.isArray(output) ? output.filter(isKnown) : [];
};

const documentOf = (code: string): string | undefined =>
  CODE.exec(code)?.groups?.["documentNumber"];

/** The id of a dispute that may have been named by its code. */
export const disputeIdOf = async (
  broker: Broker,
  name: string,
  options: Options,
): Promise<string> => {
  const documentNumber = documentOf(name);
  if (documentNumber === undefined) return name;
  const found = await look(broker, { DocumentNumber: documentNumber }, options);
  const code = name.toLowerCase();
  return found.find(({ disputeCode }) => disputeCode.toLowerCase() === code)?.disputeId ?? name;
};

/** Open disputes, last touched first, whose id or code begins with what was typed; in the form it was typed in. */
export const completeDispute = async (
  broker: Broker,
  typed: string,
  options: Options,
): Promise<string[]> => {
  const documentNumber = documentOf(typed);
  const filter = documentNumber === undefined ? {} : { DocumentNumber: documentNumber };
  const sorted = { ...filter, Status: [0], Sort: "-UpdateDate" };
  const found = await look(broker, sorted, options);
  const start = typed.toLowerCase();
  return found
    .flatMap(({ disputeId, disputeCode }) =>
      start === "" ? [disputeId] : [disputeId, disputeCode],
    )
    .filter((name) => name.toLowerCase().startsWith(start))
    .map(cleanText)
    .slice(0, MAX_COMPLETIONS);
};
