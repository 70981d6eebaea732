import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import { STATUS_NUMBERS } from "../../contract/insights/dispute-filters.ts";
import type { ArgsOf, CallArguments, Operation } from "../../contract/operation.ts";
import { cutText, omitNulls } from "../../insights/brief.ts";
import type { CallerContext } from "../caller.ts";
import type { Fields } from "../results/budget.ts";
import { partOf, type ReadPart, readWhole } from "./part.ts";
import type { Paging } from "../results/pages.ts";
import type { ConfigurationNoun } from "./resource-list.ts";
import type { Broker } from "../../broker/port.ts";
import type { Dispute } from "../../contract/operations/disputes.ts";
import { parseDisputeCode } from "../../insights/dispute-code.ts";
import { findByCode } from "../../insights/find-dispute.ts";
import { createNumberContext } from "../results/number-context.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { formOf } from "../results/record-form.ts";

const MAX_SEARCHED = 100;
export const MAX_COMPLETIONS = 100;

const findDisputes = async (
  broker: Broker,
  filter: ArgsOf<typeof contract.disputes.list>,
  options: CallOptions,
): Promise<Dispute[]> => {
  const args = { ...filter, Page: 1, PageSize: MAX_SEARCHED };
  return (await broker.call(contract.disputes.list, args, options)).output;
};

/** Returns the id of the dispute with a code; any other name unchanged. */
const findDisputeId = async (
  broker: Broker,
  name: string,
  options: CallOptions,
): Promise<string> => {
  if (parseDisputeCode(name) === undefined) return name;
  const [dispute] = await findByCode(await createNumberContext(broker, options), name);
  return dispute?.disputeId ?? name;
};

/**
 * Returns numbers of accounts or documents with disputes, last updated first: those that begin with the typed text, or
 * whose account's name contains it.
 */
export const completeNumber =
  (field: "accountNumber" | "documentNumber") =>
  async ({ broker }: CallerContext, typed: string, options: CallOptions): Promise<string[]> => {
    const found = await findDisputes(broker, { Sort: "-UpdateDate" }, options);
    const searched = typed.toLowerCase();
    const matching = found.filter(
      (dispute) =>
        dispute[field].toLowerCase().startsWith(searched) ||
        (dispute.accountName ?? "").toLowerCase().includes(searched),
    );
    return [...new Set(matching.map((dispute) => sanitizeText(dispute[field], "stored")))];
  };

/** Returns the ids, or the codes if a code is typed, of open disputes that begin with the text, last updated first. */
export const completeDispute = async (
  { broker }: CallerContext,
  typed: string,
  options: CallOptions,
): Promise<string[]> => {
  const documentNumber = parseDisputeCode(typed);
  const filter = documentNumber === undefined ? {} : { DocumentNumber: documentNumber };
  const query = { ...filter, Status: [STATUS_NUMBERS.Open], Sort: "-UpdateDate" };
  const found = await findDisputes(broker, query, options);
  const start = typed.toLowerCase();
  return found
    .flatMap(({ disputeId, disputeCode }) =>
      start === "" ? [disputeId] : [disputeId, disputeCode],
    )
    .filter((name) => name.toLowerCase().startsWith(start))
    .map((name) => sanitizeText(name, "stored"));
};

const NOUNS: Record<ConfigurationNoun, Operation> = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
};

/** Returns the reader of the records that an operation lists; `shorten` shortens each before it is counted. */
const listOf = (
  context: CallerContext,
  { operation, args }: { operation: Operation; args: CallArguments },
  options: CallOptions,
  shorten?: (record: Fields) => Fields,
): ReadPart => {
  const ask = async (page: CallArguments) => {
    const reply = await context.broker.call(operation, page, options);
    if (shorten === undefined || !Array.isArray(reply.output)) return reply;
    return { ...reply, output: reply.output.map(shorten) };
  };
  return partOf(context, { operation, args, ask });
};

const BRIEF_FIELDS = ["code", "isValid", "defaultInternalReasonCode"];
const BRIEF_CHARACTERS = 40;

/** Returns what tools take and people say of a record of the configuration: codes and names, no ids. */
const toBrief = (record: Fields): Fields => {
  const { person, active, description } = record;
  const { firstName, lastName, email } = (person ?? {}) as Fields;
  return omitNulls({
    ...Object.fromEntries(BRIEF_FIELDS.map((name) => [name, record[name]])),
    ...(typeof description === "string"
      ? { description: cutText(description, BRIEF_CHARACTERS) }
      : {}),
    ...(person === undefined ? {} : { email, name: [firstName, lastName].join(" ").trim() }),
    ...(active === false ? { active } : {}),
  });
};

/** Reads the tenant's dispute configuration, with `brief` codes and names alone; the nouns share the answer's budget. */
export const readConfiguration = (
  context: CallerContext,
  nouns: readonly ConfigurationNoun[],
  { brief = false, ...options }: CallOptions & { brief?: boolean },
  paging: Paging,
): Promise<Fields> => {
  const shorten = brief ? toBrief : undefined;
  const lists = nouns.map((noun): [string, ReadPart] => [
    noun,
    listOf(context, { operation: NOUNS[noun], args: {} }, options, shorten),
  ]);
  return readWhole(context, paging, { lists: Object.fromEntries(lists) });
};

/** Reads a dispute by its id or code. The record gets half of the budget, its notes and files share the rest. */
export const readDispute = async (
  context: CallerContext,
  name: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const { broker } = context;
  const disputeId = await findDisputeId(broker, name, options);
  const args = { disputeId };
  return readWhole(context, paging, {
    record: {
      name: "dispute",
      async read() {
        const { output } = await broker.call(contract.disputes.get, args, options);
        return formOf(contract.disputes.get)(output);
      },
    },
    lists: {
      notes: listOf(context, { operation: contract.dispute_notes.list, args }, options),
      attachments: listOf(context, { operation: contract.dispute_attachments.list, args }, options),
    },
  });
};
