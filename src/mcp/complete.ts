import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import { completeDispute, MAX_COMPLETIONS } from "./dispute-lookup.ts";
import { brokerOf, type Needs } from "./needs.ts";
import type { Prompts } from "./prompt-list.ts";
import { configurationNouns, type Resources } from "./resources.ts";

const MAX_TYPED = 200;

type Kind = "dispute" | "noun" | undefined;

const kindOf = (
  { ref, argument }: CompleteRequestParams,
  { prompts, resources }: { prompts: Prompts; resources: Resources },
): Kind => {
  if (ref.type === "ref/prompt") {
    return prompts.find(ref.name)?.arguments.find(({ name }) => name === argument.name)?.of;
  }
  const isKnown = resources.templates.some(({ uriTemplate }) => uriTemplate === ref.uri);
  if (!isKnown || !ref.uri.endsWith(`{${argument.name}}`)) return undefined;
  return argument.name === "noun" ? "noun" : "dispute";
};

/** Values for what is being typed. Completing helps or stays silent: what the platform refuses is no error here. */
export const createComplete = (
  needs: Needs,
  offered: { prompts: Prompts; resources: Resources },
) => {
  const valuesOf = async (kind: Kind, typed: string, signal: AbortSignal): Promise<string[]> => {
    if (kind === "noun") return configurationNouns.filter((noun) => noun.startsWith(typed));
    if (kind === undefined) return [];
    try {
      const broker = await brokerOf(needs);
      return await completeDispute(broker, typed, { tool: "completion.complete", signal });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      needs.log.debug("completion.refused", { code: error.code });
      return [];
    }
  };

  return async (params: CompleteRequestParams, signal: AbortSignal): Promise<CompleteResult> => {
    const typed = params.argument.value.slice(0, MAX_TYPED);
    const values = await valuesOf(kindOf(params, offered), typed, signal);
    return { completion: { values: values.slice(0, MAX_COMPLETIONS), hasMore: false } };
  };
};
