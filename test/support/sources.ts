import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** A file of the repository: its path from the root with `/`, and its text. */
export type Source = { path: string; text: string };

const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });

/** The TypeScript files below a folder, in order. */
export const sources = (folder: string): Source[] =>
  filesBelow(folder)
    .filter((path) => /\.tsx?$/.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

/** Code without what people say about it. */
export const withoutComments = (text: string): string =>
  text.replaceAll(/(^|\s)\/\*[\s\S]*?\*\//gm, "$1").replaceAll(/(^|\s)\/\/.*$/gm, "$1");

export type Import = { specifier: string; kind: "static" | "dynamic" | "type" };

const STATEMENT = /^(?:import|export)\s(?:[^;"']*?\sfrom\s+)?"([^"]+)"/gm;
const CALL = /(typeof\s+)?\bimport\("([^"]+)"\)(\.(?!then\b)\w)?/g;

/** Returns a file's imports: statements, `import()` calls and `import()` types. */
export const importsOf = ({ text }: Source): Import[] => {
  const code = withoutComments(text);
  const statements = [...code.matchAll(STATEMENT)].map(([whole, specifier = ""]): Import => {
    const type = /^(?:import|export)\s+type\s/.test(whole);
    return { specifier, kind: type ? "type" : "static" };
  });
  const calls = [...code.matchAll(CALL)].map(([, queried, specifier = "", member]): Import => {
    const type = queried !== undefined || member !== undefined;
    return { specifier, kind: type ? "type" : "dynamic" };
  });
  return [...statements, ...calls];
};

/** Returns the paths of packages that a file imports, such as `zod` and `hono/cors`. */
export const packagesOf = (file: Source): string[] =>
  importsOf(file)
    .map(({ specifier }) => specifier)
    .filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier));

/** The repository path a relative specifier means. */
export const resolved = (from: string, specifier: string): string =>
  posix.normalize(posix.join(posix.dirname(from), specifier));

/** The repository paths of a file's relative imports. */
export const targetsOf = (file: Source): string[] =>
  importsOf(file)
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => resolved(file.path, specifier));

/** Whether a path is one of these places, or below one. */
export const isWithin = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(`${place}/`));
