const MAX_PATHS = 20;
// Clients often send a document's status back although only the server sets it; reporting it each time is noise.
const UNREPORTED = new Set(["status"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const formatPath = (parent: string, key: string, isIndex: boolean): string => {
  if (isIndex) return `${parent}[${key}]`;
  const name = encodeURIComponent(key.toWellFormed());
  return parent === "" ? name : `${parent}.${name}`;
};

/**
 * Returns the paths of the fields in `sent` that `known` does not have, at most 20, percent-encoded for the
 * X-Ignored-Fields header.
 */
export const listIgnoredFields = (sent: unknown, known: unknown, parent = ""): string[] => {
  if (!isObject(sent) || !isObject(known)) return [];
  const found: string[] = [];
  for (const key of Object.keys(sent)) {
    if (found.length >= MAX_PATHS) break;
    const path = formatPath(parent, key, Array.isArray(sent));
    if (!Object.hasOwn(known, key)) {
      if (!UNREPORTED.has(path)) found.push(path);
    } else {
      found.push(...listIgnoredFields(sent[key], known[key], path));
    }
  }
  return found.slice(0, MAX_PATHS);
};
