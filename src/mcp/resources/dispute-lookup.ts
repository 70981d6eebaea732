import type { Broker } from "../../broker/port.ts";
import type { Dispute } from "../../contract/operations/disputes.ts";
import { contract } from "../../contract/index.ts";
import { parseDisputeCode } from "../results/dispute-code.ts";
import { sanitizeText } from "../results/sanitize.ts";

type Options = { tool: string; signal: AbortSignal };

const LOOKED_AT = 100;
export const MAX_COMPLETIONS = 100;

const KNOWN = ["disputeId", "disputeCode", "accountNumber", "documentNumber"] as const;

type Known = Pick<Dispute, (typeof KNOWN)[number]>;

const isKnown = (value: unknown): value is Known =>
  typeof value === "object" &&
  value !== null &&
  KNOWN.every((name) => typeof (value as Record<string, unknown>)[name] === "string");

const look = async (
  broker: Broker,
  filter: Record<string, unknown>,
  options: Options,
): Promise<Known[]> => {
  const args = { ...filter, Page: 1, PageSize: LOOKED_AT };
  const { output } = await broker.call(contract.disputes.list, args, options);
  return Array.isArray(output) ? output.filter(isKnown) : [];
};

/** The id of a dispute that may have been named by its code. */
export const findDisputeId = async (
  broker: Broker,
  name: string,
  options: Options,
): Promise<string> => {
  const documentNumber = parseDisputeCode(name);
  if (documentNumber === undefined) return name;
  const found = await look(broker, { DocumentNumber: documentNumber }, options);
  const code = name.toLowerCase();
  return found.find(({ disputeCode }) => disputeCode.toLowerCase() === code)?.disputeId ?? name;
};

const NUMBERS = { account: "accountNumber", document: "documentNumber" } as const;

const nameOf = (dispute: Known): string =>
  "accountName" in dispute && typeof dispute.accountName === "string" ? dispute.accountName : "";

/**
 * Accounts or documents by the disputes on them, last touched first: whose number begins with what was typed, or whose
 * account's name has it.
 */
export const completeNumber = async (
  broker: Broker,
  of: keyof typeof NUMBERS,
  typed: string,
  options: Options,
): Promise<string[]> => {
  const found = await look(broker, { Sort: "-UpdateDate" }, options);
  const start = typed.toLowerCase();
  const fitting = found.filter(
    (dispute) =>
      dispute[NUMBERS[of]].toLowerCase().startsWith(start) ||
      nameOf(dispute).toLowerCase().includes(start),
  );
  return [...new Set(fitting.map((dispute) => sanitizeText(dispute[NUMBERS[of]])))];
};

/** Open disputes, last touched first, whose id or code begins with what was typed; in the form it was typed in. */
export const completeDispute = async (
  broker: Broker,
  typed: string,
  options: Options,
): Promise<string[]> => {
  const documentNumber = parseDisputeCode(typed);
  const filter = documentNumber === undefined ? {} : { DocumentNumber: documentNumber };
  const sorted = { ...filter, Status: [0], Sort: "-UpdateDate" };
  const found = await look(broker, sorted, options);
  const start = typed.toLowerCase();
  return found
    .flatMap(({ disputeId, disputeCode }) =>
      start === "" ? [disputeId] : [disputeId, disputeCode],
    )
    .filter((name) => name.toLowerCase().startsWith(start))
    .map(sanitizeText)
    .slice(0, MAX_COMPLETIONS);
};
