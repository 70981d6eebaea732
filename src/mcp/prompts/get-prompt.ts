import type { CallArguments } from "../../contract/operation.ts";
import {
  type GetPromptResult,
  type ReadResourceResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Prompt } from "../../../prompts/prompt.ts";
import type { HasTool } from "../../../prompts/steps.ts";
import { MISSING } from "../../broker/credentials.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { isWithin } from "../results/tokens.ts";
import { fitText } from "../files/fit-text.ts";
import { sanitizeLine, sanitizeText } from "../results/sanitize.ts";
import { findNearest, offerNames } from "../../kit/nearest.ts";
import { activePrompts, type Offer } from "./prompt-list.ts";
import type { CallerContext } from "../caller.ts";

const MAX_ARGUMENT = 200;
const SHORTER = 0.9;
const CUT = "[cut here: send the rest as further messages]";

type ReadAttachment = (uri: string) => Promise<ReadResourceResult>;

/** The sources of a prompt's attachments. */
export type PromptSources = {
  read: ReadAttachment;
  /** Returns the answer of an insight as text, also if it is a refusal. */
  ask: (name: string, args: CallArguments) => Promise<string>;
};

export type GetPrompt = (
  name: string,
  sent: Record<string, string>,
  sources: PromptSources,
) => Promise<GetPromptResult>;

const refuse = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

// Characters of a pasted text that are measured at most.
const MOST_PASTED = 20_000;

/** Returns a pasted text of several lines within a budget; what is cut off is named at its end. */
const fitPasted = (text: string, tokens: number): string => {
  const clean = sanitizeText(text.slice(0, MOST_PASTED), "stored").trim();
  // The prompt shows it as JSON, in which line ends cost more.
  let budget = tokens;
  let fitting = fitText(clean, budget).text;
  while (!isWithin(JSON.stringify(fitting), tokens)) {
    budget *= SHORTER;
    fitting = fitText(clean, budget).text;
  }
  const isCut = fitting.length < clean.length || text.length > MOST_PASTED;
  return isCut ? `${fitting.trimEnd()}\n${CUT}` : fitting;
};

const parseArguments = (prompt: Prompt, sent: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    prompt.arguments.map(({ name, maxLength = MAX_ARGUMENT, maxTokens, values }) => {
      const given = sent[name] ?? "";
      const value =
        maxTokens === undefined ? sanitizeLine(given, maxLength) : fitPasted(given, maxTokens);
      if (value === "") throw refuse(`${prompt.name} needs ${name}`);
      if (values !== undefined && !values.includes(value)) {
        throw refuse(`${name} of ${prompt.name} must be one of ${values.join(", ")}`);
      }
      return [name, value];
    }),
  );

const userMessage = (content: GetPromptResult["messages"][number]["content"]) => ({
  role: "user" as const,
  content,
});

/** Returns messages with a resource, or with a text that says why it could not be read. */
const attach = async (uri: string, read: ReadAttachment) => {
  try {
    const { contents } = await read(uri);
    return contents.map((resource) => userMessage({ type: "resource", resource }));
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const text = `${sanitizeLine(uri, 300)} could not be read now: ${sanitizeLine(error.message, 300)}`;
    return [userMessage({ type: "text", text })];
  }
};

const unknownPrompt = (name: string, active: readonly Prompt[]): ProtocolError => {
  const near = findNearest(
    name,
    active.map((one) => one.name),
  );
  return refuse(`Unknown prompt ${JSON.stringify(sanitizeLine(name, 80))}${offerNames(near)}`);
};

/**
 * Creates the handler of `prompts/get`. Its messages are the prompt's text with the current time, for questions such as
 * "what is overdue", and the attached resources.
 */
export const createGetPrompt = ({
  settings,
  offered,
  now,
  hasTool,
  describeUnlisted,
}: Pick<CallerContext, "settings" | "now"> & {
  offered: Offer;
  /** Whether the server has a tool, listed or behind `call_tool`. */
  hasTool: HasTool;
  /** Describes how to call the tools named in a text that the server does not list, if there are any. */
  describeUnlisted: (text: string) => string;
}): GetPrompt => {
  const active = activePrompts(offered);
  const enabled = activePrompts(settings);
  const refuseName = (name: string): ProtocolError =>
    enabled.some((one) => one.name === name)
      ? refuse(MISSING.export().message)
      : unknownPrompt(name, active);
  return async (name, sent, { read, ask }) => {
    const prompt = active.find((one) => one.name === name);
    if (prompt === undefined) throw refuseName(name);
    const args = parseArguments(prompt, sent);
    const uris = prompt.attachments?.(args) ?? [];
    const attachments = await Promise.all(uris.map((uri) => attach(uri, read)));
    const insight = prompt.insight?.(args);
    const answers = insight === undefined ? [] : [await ask(insight.name, insight.args)];
    const body = prompt.text(args, hasTool);
    const instructions = `${body}${describeUnlisted(body)}\n\nIt is now ${formatTimestamp(now()).slice(0, 16)}Z.`;
    const text = userMessage({ type: "text", text: instructions });
    return {
      description: prompt.description,
      messages: [
        text,
        ...answers.map((answer) => userMessage({ type: "text", text: answer })),
        ...attachments.flat(),
      ],
    };
  };
};
