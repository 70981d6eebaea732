import type {
  CompleteRequestParams,
  CompleteResult,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { Prompt } from "../../prompts/prompt.ts";
import { Problem } from "../contract/errors.ts";
import { completeDispute, MAX_COMPLETIONS } from "./dispute-lookup.ts";
import type { Needs } from "./needs.ts";
import { activePrompts } from "./prompt-list.ts";
import { configurationNouns, resourceTemplates } from "./resource-list.ts";

const MAX_TYPED = 200;

type Offered = { prompts: readonly Prompt[]; templates: readonly ResourceTemplateType[] };

type Kind = "dispute" | "noun" | undefined;

const kindOf = (
  { ref, argument }: CompleteRequestParams,
  { prompts, templates }: Offered,
): Kind => {
  if (ref.type === "ref/prompt") {
    return prompts
      .find(({ name }) => name === ref.name)
      ?.arguments.find(({ name }) => name === argument.name)?.of;
  }
  const isKnown = templates.some(({ uriTemplate }) => uriTemplate === ref.uri);
  if (!isKnown || !ref.uri.endsWith(`{${argument.name}}`)) return undefined;
  return argument.name === "noun" ? "noun" : "dispute";
};

/** Values for what is being typed. Completing helps or stays silent: what the platform refuses is no error here. */
export const createComplete = ({ broker, log, settings }: Needs) => {
  const offered = { prompts: activePrompts(settings), templates: resourceTemplates(settings) };

  const valuesOf = async (kind: Kind, typed: string, signal: AbortSignal): Promise<string[]> => {
    if (kind === "noun") return configurationNouns.filter((noun) => noun.startsWith(typed));
    if (kind === undefined) return [];
    try {
      return await completeDispute(broker, typed, { tool: "completion.complete", signal });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      log.debug("completion.refused", { code: error.code });
      return [];
    }
  };

  return async (params: CompleteRequestParams, signal: AbortSignal): Promise<CompleteResult> => {
    const typed = params.argument.value.slice(0, MAX_TYPED);
    const values = await valuesOf(kindOf(params, offered), typed, signal);
    return { completion: { values: values.slice(0, MAX_COMPLETIONS), hasMore: false } };
  };
};
