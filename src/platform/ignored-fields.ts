const MAX_PATHS = 20;
// Clients often send a document's status back although only the server sets it; reporting it each time is noise.
const UNREPORTED = new Set(["status"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const formatPath = (steps: readonly (string | number)[]): string =>
  steps.reduce<string>((path, step) => {
    if (typeof step === "number") return `${path}[${step}]`;
    const name = encodeURIComponent(step.toWellFormed());
    return path === "" ? name : `${path}.${name}`;
  }, "");

/**
 * Returns the paths of the fields in `sent` that `known` does not have, at most 20, percent-encoded for the
 * X-Ignored-Fields header. Only these are written: a document may have a hundred thousand fields in its lines.
 */
export const listIgnoredFields = (sent: unknown, known: unknown): string[] => {
  const found: string[] = [];
  const steps: (string | number)[] = [];
  const visit = (one: unknown, other: unknown): void => {
    if (!isObject(one) || !isObject(other)) return;
    const isList = Array.isArray(one);
    for (const key of Object.keys(one)) {
      if (found.length >= MAX_PATHS) return;
      steps.push(isList ? Number(key) : key);
      if (Object.hasOwn(other, key)) visit(one[key], other[key]);
      else {
        const path = formatPath(steps);
        if (!UNREPORTED.has(path)) found.push(path);
      }
      steps.pop();
    }
  };
  visit(sent, known);
  return found;
};
