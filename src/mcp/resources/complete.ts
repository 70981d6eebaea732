import type {
  CompleteRequestParams,
  CompleteResult,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { Prompt } from "../../../prompts/prompt.ts";
import type { CallOptions } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { SOURCES } from "../../contract/payments/catalogue.ts";
import type { CallerContext } from "../caller.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { completeApplication } from "./credit-resources.ts";
import { completeDispute, completeNumber, MAX_COMPLETIONS } from "./dispute-resources.ts";
import { completeRun, completeSchedule } from "./export-resources.ts";
import { configurationNouns, listResourceTemplates } from "./resource-list.ts";

const MAX_INPUT_LENGTH = 200;

type Params = CompleteRequestParams;
type Completable = { prompts: readonly Prompt[]; templates: readonly ResourceTemplateType[] };

/** Returns the values that begin with the typed text; `args` are the values of the template's other variables. */
type Lookup = (
  context: CallerContext,
  typed: string,
  options: CallOptions,
  args: Readonly<Record<string, string>>,
) => Promise<string[]> | string[];

const filterByPrefix = (values: readonly string[], prefix: string): string[] =>
  values.filter((value) => value.startsWith(prefix));

const completeDocumentFile: Lookup = async ({ broker }, typed, options, args) => {
  const { documentNumber: document_number } = args;
  if (document_number === undefined) return [];
  const { list } = contract.document_attachments;
  const { output } = await broker.call(list, { document_number }, options);
  return filterByPrefix(
    output.attachments.map(({ id }) => sanitizeText(id, "stored")),
    typed,
  );
};

const completeDisputeFile: Lookup = async ({ broker }, typed, options, args) => {
  const { disputeId } = args;
  if (disputeId === undefined) return [];
  const { output } = await broker.call(contract.dispute_attachments.list, { disputeId }, options);
  return filterByPrefix(
    output.map(({ attachmentId }) => sanitizeText(attachmentId, "stored")),
    typed,
  );
};

const completeAccount: Lookup = completeNumber("accountNumber");

/** Lookups by the name of a URI template's variable. */
const TEMPLATE_LOOKUPS: Readonly<Record<string, Lookup>> = {
  noun: (_context, typed) => filterByPrefix(configurationNouns, typed),
  source: (_context, typed) => filterByPrefix(SOURCES, typed),
  disputeId: completeDispute,
  applicationId: completeApplication,
  accountNumber: completeAccount,
  documentNumber: completeNumber("documentNumber"),
  id: completeDocumentFile,
  attachmentId: completeDisputeFile,
  scheduleId: completeSchedule,
  runId: (context, typed, options, { scheduleId }) =>
    scheduleId === undefined ? [] : completeRun(context, scheduleId, typed, options),
};

/** Lookups by the kind of a prompt's argument. */
const PROMPT_LOOKUPS = {
  dispute: completeDispute,
  application: completeApplication,
  account: completeAccount,
} satisfies Record<NonNullable<Prompt["arguments"][number]["of"]>, Lookup>;

const findLookup = (
  { ref, argument }: Params,
  { prompts, templates }: Completable,
): Lookup | undefined => {
  if (ref.type === "ref/prompt") {
    const { arguments: args = [] } = prompts.find(({ name }) => name === ref.name) ?? {};
    const { of: kind, values } = args.find(({ name }) => name === argument.name) ?? {};
    if (values !== undefined) return (_context, typed) => filterByPrefix(values, typed);
    return kind && PROMPT_LOOKUPS[kind];
  }
  const isKnown = templates.some(({ uriTemplate }) => uriTemplate === ref.uri);
  const isVariable = isKnown && ref.uri.includes(`{${argument.name}}`);
  return isVariable ? TEMPLATE_LOOKUPS[argument.name] : undefined;
};

/** Creates the handler of `completion/complete`. What the platform refuses yields no values and no error. */
export const createComplete = (context: CallerContext, prompts: readonly Prompt[]) => {
  const completable = { prompts, templates: listResourceTemplates(context.settings) };
  return async (params: Params, signal: AbortSignal): Promise<CompleteResult> => {
    const typed = params.argument.value.slice(0, MAX_INPUT_LENGTH);
    const options = { tool: "completion.complete", signal };
    const lookUp = findLookup(params, completable) ?? (() => []);
    try {
      const values = await lookUp(context, typed, options, params.context?.arguments ?? {});
      return { completion: { values: values.slice(0, MAX_COMPLETIONS), hasMore: false } };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      context.log.debug("completion.refused", { code: error.code });
      return { completion: { values: [], hasMore: false } };
    }
  };
};
