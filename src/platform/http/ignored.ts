import type { Story } from "./story.ts";

const MOST_NAMED = 20;
// A document's status is the server's own and often sent along; naming it each time would teach nothing.
const SILENT = new Set(["status"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const pathOf = (parent: string, key: string, isIndex: boolean): string => {
  if (isIndex) return `${parent}[${key}]`;
  const name = encodeURIComponent(key.toWellFormed());
  return parent === "" ? name : `${parent}.${name}`;
};

/** The paths of what was sent and has no meaning here, as a header can bear them. */
export const ignoredFields = (sent: unknown, known: unknown, parent = ""): string[] => {
  if (!isObject(sent) || !isObject(known)) return [];
  const found: string[] = [];
  for (const key of Object.keys(sent)) {
    if (found.length >= MOST_NAMED) break;
    const path = pathOf(parent, key, Array.isArray(sent));
    if (!Object.hasOwn(known, key)) {
      if (!SILENT.has(path)) found.push(path);
    } else {
      found.push(...ignoredFields(sent[key], known[key], path));
    }
  }
  return found.slice(0, MOST_NAMED);
};

/** Names in the answer what of the body has no meaning here. */
export const noteIgnored = (story: Pick<Story, "headers">, sent: unknown, known: unknown): void => {
  const ignored = ignoredFields(sent, known);
  if (ignored.length > 0) story.headers["X-Ignored-Fields"] = ignored.join(",");
};
