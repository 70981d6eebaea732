import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { dynamicTool, generateText, isStepCount, jsonSchema, type LanguageModel } from "ai";
import type { Player, Seat } from "./player.ts";

/** Replies of the model to one task, at most. */
const MAX_STEPS = 50;

export type ModelChoice = { model: string; baseUrl?: string | undefined };
type Env = Record<string, string | undefined>;

const needKey = (env: Env, name: string): string => {
  const key = env[name];
  if (key === undefined || key === "") throw new Error(`${name} is not set.`);
  return key;
};

/**
 * Returns the model of `anthropic:NAME`, `openai:NAME`, or `NAME` at an OpenAI-compatible address. Keys come from the
 * environment only.
 *
 * @throws {Error} if a key or an address is missing
 */
const findModel = ({ model, baseUrl }: ModelChoice, env: Env): LanguageModel => {
  if (baseUrl !== undefined) {
    const apiKey = env["OPENAI_API_KEY"];
    const key = apiKey === undefined ? {} : { apiKey };
    return createOpenAICompatible({ name: "compatible", baseURL: baseUrl, ...key })(model);
  }
  const [provider = "", ...rest] = model.split(":");
  const name = rest.join(":");
  if (provider === "anthropic" && name !== "") {
    return createAnthropic({ apiKey: needKey(env, "ANTHROPIC_API_KEY") })(name);
  }
  if (provider === "openai" && name !== "") {
    return createOpenAI({ apiKey: needKey(env, "OPENAI_API_KEY") })(name);
  }
  throw new Error(
    `--model must be anthropic:NAME, openai:NAME, or NAME with --base-url, not "${model}".`,
  );
};

const toTools = ({ tools, call }: Seat) =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(inputSchema),
        execute: async (args) => (await call(name, args as Record<string, unknown>)).text,
      }),
    ]),
  );

/** Creates a player that is a model. @throws {Error} if a key or an address is missing */
export const createModelPlayer = (choice: ModelChoice, env: Env): Player => {
  const model = findModel(choice, env);
  return async (seat) => {
    const { text, finishReason } = await generateText({
      model,
      ...(seat.instructions === "" ? {} : { instructions: seat.instructions }),
      prompt: seat.prompt,
      tools: toTools(seat),
      stopWhen: isStepCount(MAX_STEPS),
      abortSignal: seat.signal,
      onStepEnd: ({ usage }) => seat.addTokens(usage.totalTokens ?? 0),
    });
    if (text.trim() === "") throw new Error(`The model ended without an answer: ${finishReason}.`);
    return text;
  };
};
