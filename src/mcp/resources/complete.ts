import type {
  CompleteRequestParams,
  CompleteResult,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Prompt } from "../../../prompts/prompt.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { DisputeAttachment } from "../../contract/operations/dispute-attachments.ts";
import { SOURCES } from "../../contract/payments/catalogue.ts";
import { DocumentAttachments } from "../../contract/operations/document-attachments.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { completeApplication } from "./credit-resources.ts";
import { completeDispute, completeNumber, MAX_COMPLETIONS } from "./dispute-lookup.ts";
import { completeRun, completeSchedule } from "./export-run-resources.ts";
import type { CallerContext } from "../caller.ts";
import { configurationNouns, listResourceTemplates } from "./resource-list.ts";

const MAX_TYPED = 200;

type Params = CompleteRequestParams;
type Asked = { tool: string; signal: AbortSignal };
type Offered = { prompts: readonly Prompt[]; templates: readonly ResourceTemplateType[] };

type Kind =
  | "dispute"
  | "application"
  | "noun"
  | "source"
  | "account"
  | "document"
  | "attachment"
  | "file"
  | "schedule"
  | "run"
  | undefined;

/** What the places in the templates stand for. */
const KINDS: Readonly<Record<string, Kind>> = {
  noun: "noun",
  source: "source",
  disputeId: "dispute",
  applicationId: "application",
  accountNumber: "account",
  documentNumber: "document",
  id: "attachment",
  attachmentId: "file",
  scheduleId: "schedule",
  runId: "run",
};

const kindOf = ({ ref, argument }: Params, { prompts, templates }: Offered): Kind => {
  if (ref.type === "ref/prompt") {
    return prompts
      .find(({ name }) => name === ref.name)
      ?.arguments.find(({ name }) => name === argument.name)?.of;
  }
  const isKnown = templates.some(({ uriTemplate }) => uriTemplate === ref.uri);
  return isKnown && ref.uri.includes(`{${argument.name}}`) ? KINDS[argument.name] : undefined;
};

/** Values for what is being typed. Completing helps or stays silent: what the platform refuses is no error here. */
export const createComplete = (
  { broker, log, now, settings }: CallerContext,
  prompts: readonly Prompt[],
) => {
  const offered = { prompts, templates: listResourceTemplates(settings) };

  /** Ids of the files of a document, once that is known. */
  const attachmentIds = async (number: string, typed: string, asked: Asked): Promise<string[]> => {
    const args = { document_number: number };
    const { output } = await broker.call(contract.document_attachments.list, args, asked);
    const { success, data } = DocumentAttachments.safeParse(output);
    const ids = success ? data.attachments.map(({ id }) => sanitizeText(id)) : [];
    return ids.filter((id) => id.startsWith(typed));
  };

  /** Ids of the files of a dispute, once that is known. */
  const fileIds = async (disputeId: string, typed: string, asked: Asked): Promise<string[]> => {
    const { output } = await broker.call(contract.dispute_attachments.list, { disputeId }, asked);
    const { success, data } = z.array(DisputeAttachment).safeParse(output);
    const ids = success ? data.map(({ attachmentId }) => sanitizeText(attachmentId)) : [];
    return ids.filter((id) => id.startsWith(typed));
  };

  const lookUp = async (kind: Kind, typed: string, { context }: Params, asked: Asked) => {
    if (kind === "dispute") return completeDispute(broker, typed, asked);
    if (kind === "application") return completeApplication({ broker, now }, typed, asked);
    if (kind === "account" || kind === "document") {
      return completeNumber(broker, kind, typed, asked);
    }
    if (kind === "schedule") return completeSchedule({ broker }, typed, asked);
    if (kind === "run") {
      const scheduleId = context?.arguments?.["scheduleId"];
      return scheduleId === undefined ? [] : completeRun({ broker }, scheduleId, typed, asked);
    }
    if (kind === "file") {
      const disputeId = context?.arguments?.["disputeId"];
      return disputeId === undefined ? [] : fileIds(disputeId, typed, asked);
    }
    const number = context?.arguments?.["documentNumber"];
    return number === undefined ? [] : attachmentIds(number, typed, asked);
  };

  const valuesOf = async (params: Params, typed: string, signal: AbortSignal) => {
    const kind = kindOf(params, offered);
    if (kind === "noun") return configurationNouns.filter((noun) => noun.startsWith(typed));
    if (kind === "source") return SOURCES.filter((source) => source.startsWith(typed));
    if (kind === undefined) return [];
    try {
      return await lookUp(kind, typed, params, { tool: "completion.complete", signal });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      log.debug("completion.refused", { code: error.code });
      return [];
    }
  };

  return async (params: Params, signal: AbortSignal): Promise<CompleteResult> => {
    const typed = params.argument.value.slice(0, MAX_TYPED);
    const values = await valuesOf(params, typed, signal);
    return { completion: { values: values.slice(0, MAX_COMPLETIONS), hasMore: false } };
  };
};
