import { readFileSync } from "node:fs";

const MANUAL = new URL("../../docs/operations.md", import.meta.url);

/** Returns the example of docs/operations.md in a language that has a text. @throws {Error} without just one */
export const readExample = (language: "yaml" | "haproxy", part: string): string => {
  const manual = readFileSync(MANUAL, "utf8");
  const found = [...manual.matchAll(/^```(\w+)\n([^`]*)^```/gm)]
    .filter(([, name, text = ""]) => name === language && text.includes(part))
    .map(([, , text = ""]) => text);
  if (found.length !== 1) throw new Error(`${found.length} examples have ${part}`);
  return found[0] ?? "";
};
