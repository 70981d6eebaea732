import {
  type GetPromptResult,
  type Prompt as ListedPrompt,
  type ReadResourceResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { prompts } from "../../prompts/index.ts";
import type { Prompt } from "../../prompts/prompt.ts";
import { cleanLine } from "./clean.ts";
import { nearest } from "./nearest.ts";
import type { Settings } from "./settings.ts";

const MAX_ARGUMENT = 200;

type Read = (uri: string) => Promise<ReadResourceResult>;

export type Prompts = {
  list: readonly ListedPrompt[];
  find(name: string): Prompt | undefined;
  get(name: string, sent: Record<string, string>, read: Read): Promise<GetPromptResult>;
};

const refuse = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

const argumentsOf = (prompt: Prompt, sent: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    prompt.arguments.map(({ name, required }) => {
      const value = cleanLine(sent[name] ?? "", MAX_ARGUMENT);
      if (required && value === "") throw refuse(`${prompt.name} needs ${name}`);
      return [name, value];
    }),
  );

const userMessage = (content: GetPromptResult["messages"][number]["content"]) => ({
  role: "user" as const,
  content,
});

/** A resource to start with; if it cannot be read now, the words say so and the work goes on without. */
const attached = async (uri: string, read: Read) => {
  try {
    const { contents } = await read(uri);
    return contents.map((resource) => userMessage({ type: "resource", resource }));
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const text = `${cleanLine(uri, 300)} could not be read now: ${cleanLine(error.message, 300)}`;
    return [userMessage({ type: "text", text })];
  }
};

/** The prompts whose toolsets are there. */
export const createPrompts = (settings: Settings): Prompts => {
  const active = prompts.filter(({ needs }) =>
    needs.every((toolset) => settings.toolsets.some((name) => name === toolset)),
  );
  const find = (name: string) => active.find((prompt) => prompt.name === name);
  return {
    list: active.map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: args.map(({ of: _kind, ...argument }) => argument),
    })),
    find,
    async get(name, sent, read) {
      const prompt = find(name);
      if (prompt === undefined) {
        const near = nearest(
          name,
          active.map((one) => one.name),
        );
        const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
        throw refuse(`Unknown prompt ${JSON.stringify(cleanLine(name, 80))}${hint}`);
      }
      const args = argumentsOf(prompt, sent);
      const parts = await Promise.all(prompt.brings(args).map((uri) => attached(uri, read)));
      const text = userMessage({ type: "text", text: prompt.text(args) });
      return { description: prompt.description, messages: [text, ...parts.flat()] };
    },
  };
};
