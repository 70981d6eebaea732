import { basename, join } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import type { View } from "./views.ts";

// A view loads nothing, so it needs no more than hosts allow at least. The page of the HTTP server allows hashes only.
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** zod has messages in fifty languages, 280 KB, of which the page of the server needs none. */
const withoutLanguages: Plugin = {
  name: "zod without languages",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

const APP = join(import.meta.dirname, "app");

const createOptions = () =>
  ({
    outdir: APP,
    bundle: true,
    write: false as const,
    minify: true,
    platform: "browser" as const,
    target: ["es2023"],
    jsx: "automatic" as const,
    jsxImportSource: "preact",
    plugins: [withoutLanguages],
    legalComments: "none" as const,
    logLevel: "error" as const,
  }) satisfies BuildOptions;

/** A file of the page, by a name that changes with its content. */
type SiteFile = { name: string; text: string };

/** The files of the page: the script and the style that it names, and the parts that the script loads later. */
type SiteFiles = { script: string; style: string; files: readonly SiteFile[] };

/** Bundles the page of the HTTP server. What its first sight needs is small; the rest is loaded beside it. */
export const bundleSite = async (entry: string): Promise<SiteFiles> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    ...createOptions(),
    entryPoints: { site: join(APP, entry) },
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    format: "esm",
    splitting: true,
  });
  const files = outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
  const nameOf = (start: string, ending: string): string =>
    files.find(({ name }) => name.startsWith(start) && name.endsWith(ending))?.name ?? "";
  return { script: nameOf("site-", ".js"), style: nameOf("site-", ".css"), files };
};

/** Bundles scripts and styles of an entry point in `app/`. */
const bundleApp = async (entry: string): Promise<{ script: string; style: string }> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    ...createOptions(),
    entryPoints: [join(APP, entry)],
    format: "iife",
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  return { script: textOf(".js"), style: textOf(".css") };
};

/** Bundles a view into one HTML file that loads nothing else. */
export const bundleView = async ({ name, title }: View): Promise<string> => {
  const { script, style } = await bundleApp(`${name}.tsx`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<div id="view"></div>
<script>${script}</script>
</body>
</html>
`;
};
