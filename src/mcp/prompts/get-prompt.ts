import {
  type GetPromptResult,
  type ReadResourceResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Prompt } from "../../../prompts/prompt.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { findNearest } from "../../kit/nearest.ts";
import { activePrompts } from "./prompt-list.ts";
import type { CallerContext } from "../caller.ts";

const MAX_ARGUMENT = 200;

type Read = (uri: string) => Promise<ReadResourceResult>;

export type GetPrompt = (
  name: string,
  sent: Record<string, string>,
  read: Read,
) => Promise<GetPromptResult>;

const refuse = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

const argumentsOf = (prompt: Prompt, sent: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    prompt.arguments.map(({ name, required, maxLength = MAX_ARGUMENT }) => {
      const value = sanitizeLine(sent[name] ?? "", maxLength);
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
    const text = `${sanitizeLine(uri, 300)} could not be read now: ${sanitizeLine(error.message, 300)}`;
    return [userMessage({ type: "text", text })];
  }
};

const unknown = (name: string, active: readonly Prompt[]): ProtocolError => {
  const names = active.map((one) => one.name);
  const near = findNearest(name, names);
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  return refuse(`Unknown prompt ${JSON.stringify(sanitizeLine(name, 80))}${hint}`);
};

/**
 * A prompt's words for a person's arguments, with the records that it starts from, and the moment: people ask of what is
 * late, and of last week.
 */
export const createGetPrompt = ({
  settings,
  now,
}: Pick<CallerContext, "settings" | "now">): GetPrompt => {
  const active = activePrompts(settings);
  return async (name, sent, read) => {
    const prompt = active.find((one) => one.name === name);
    if (prompt === undefined) throw unknown(name, active);
    const args = argumentsOf(prompt, sent);
    const parts = await Promise.all(prompt.attachments(args).map((uri) => attached(uri, read)));
    const words = `${prompt.text(args)}\n\nIt is now ${formatTimestamp(now()).slice(0, 16)}Z.`;
    const text = userMessage({ type: "text", text: words });
    return { description: prompt.description, messages: [text, ...parts.flat()] };
  };
};
