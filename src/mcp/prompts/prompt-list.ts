import type { Prompt as ListedPrompt } from "@modelcontextprotocol/server";
import { prompts } from "../../../prompts/index.ts";
import type { Prompt } from "../../../prompts/prompt.ts";
import type { Settings } from "../caller.ts";

type Offer = Pick<Settings, "toolsets">;

/** The prompts whose toolsets are there. */
export const activePrompts = ({ toolsets }: Offer): Prompt[] =>
  prompts.filter(({ needs }) =>
    needs.every((toolset) => toolsets.some((name) => name === toolset)),
  );

/** What `prompts/list` answers. */
export const promptList = (settings: Offer): ListedPrompt[] =>
  activePrompts(settings).map(({ name, title, description, arguments: args }) => ({
    name,
    title,
    description,
    arguments: args.map(({ of: _kind, longest: _longest, ...argument }) => argument),
  }));
