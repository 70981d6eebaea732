import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** Counts the o200k tokens of a text, or of the JSON of any other value. Markers of a chat are plain text. */
export const o200kTokens = (value: unknown): number =>
  countTokens(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), {
    disallowedSpecial: new Set(),
  });
