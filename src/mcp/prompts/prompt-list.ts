import type { Prompt as ListedPrompt } from "@modelcontextprotocol/server";
import { prompts } from "../../../prompts/index.ts";
import type { Prompt } from "../../../prompts/prompt.ts";
import type { Settings } from "../../config/settings.ts";

export type Offer = Pick<Settings, "toolsets">;

/** Returns the prompts whose toolsets are all enabled. */
export const activePrompts = (offer: Offer): Prompt[] => {
  const enabled = new Set<string>(offer.toolsets);
  return prompts.filter(({ toolsets }) => toolsets.every((name) => enabled.has(name)));
};

/** Returns the result of `prompts/list`. */
export const listPrompts = (settings: Offer): ListedPrompt[] =>
  activePrompts(settings).map(({ name, title, description, arguments: args }) => ({
    name,
    title,
    description,
    arguments: args.map((one) => ({
      name: one.name,
      description: one.description,
      required: true,
    })),
  }));
