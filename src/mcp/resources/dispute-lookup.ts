import type { Broker } from "../../broker/port.ts";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { Dispute } from "../../contract/operations/disputes.ts";
import { parseDisputeCode } from "../../insights/dispute-code.ts";
import { findByCode } from "../../insights/find-dispute.ts";
import { createNumberContext } from "../results/number-context.ts";
import { sanitizeText } from "../results/sanitize.ts";

const MAX_SEARCHED = 100;
export const MAX_COMPLETIONS = 100;

const FIELDS = ["disputeId", "disputeCode", "accountNumber", "documentNumber"] as const;

type Found = Pick<Dispute, (typeof FIELDS)[number]>;

const hasFields = (value: unknown): value is Found =>
  typeof value === "object" &&
  value !== null &&
  FIELDS.every((name) => typeof (value as Record<string, unknown>)[name] === "string");

const findDisputes = async (
  broker: Broker,
  filter: Record<string, unknown>,
  options: CallOptions,
): Promise<Found[]> => {
  const args = { ...filter, Page: 1, PageSize: MAX_SEARCHED };
  const { output } = await broker.call(contract.disputes.list, args, options);
  return Array.isArray(output) ? output.filter(hasFields) : [];
};

/** Returns the id of the dispute with a code; any other name unchanged. */
export const findDisputeId = async (
  broker: Broker,
  name: string,
  options: CallOptions,
): Promise<string> => {
  if (parseDisputeCode(name) === undefined) return name;
  const [dispute] = await findByCode(await createNumberContext(broker, options), name);
  return dispute?.disputeId ?? name;
};

const accountNameOf = (dispute: Found): string =>
  "accountName" in dispute && typeof dispute.accountName === "string" ? dispute.accountName : "";

/**
 * Returns numbers of accounts or documents with disputes, last updated first: those that begin with the typed text, or
 * whose account's name contains it.
 */
export const completeNumber = async (
  broker: Broker,
  field: "accountNumber" | "documentNumber",
  typed: string,
  options: CallOptions,
): Promise<string[]> => {
  const found = await findDisputes(broker, { Sort: "-UpdateDate" }, options);
  const sought = typed.toLowerCase();
  const matching = found.filter(
    (dispute) =>
      dispute[field].toLowerCase().startsWith(sought) ||
      accountNameOf(dispute).toLowerCase().includes(sought),
  );
  return [...new Set(matching.map((dispute) => sanitizeText(dispute[field])))];
};

/** Returns the ids, or the codes if a code is typed, of open disputes that begin with the text, last updated first. */
export const completeDispute = async (
  broker: Broker,
  typed: string,
  options: CallOptions,
): Promise<string[]> => {
  const documentNumber = parseDisputeCode(typed);
  const filter = documentNumber === undefined ? {} : { DocumentNumber: documentNumber };
  const query = { ...filter, Status: [0], Sort: "-UpdateDate" };
  const found = await findDisputes(broker, query, options);
  const start = typed.toLowerCase();
  return found
    .flatMap(({ disputeId, disputeCode }) =>
      start === "" ? [disputeId] : [disputeId, disputeCode],
    )
    .filter((name) => name.toLowerCase().startsWith(start))
    .map(sanitizeText);
};
