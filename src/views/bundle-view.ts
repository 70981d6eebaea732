import { join } from "node:path";
import type { Plugin } from "esbuild";
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

/** Bundles scripts and styles of an entry point in `app/`; `inputs` are the paths of their parts. */
export const bundleApp = async (
  entry: string,
): Promise<{ script: string; style: string; inputs: string[] }> => {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [join(APP, entry)],
    outdir: APP,
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    platform: "browser",
    target: ["es2023"],
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [withoutLanguages],
    legalComments: "none",
    logLevel: "error",
    metafile: true,
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  return { script: textOf(".js"), style: textOf(".css"), inputs: Object.keys(metafile.inputs) };
};

/** Bundles a view into one HTML file that loads nothing else; `inputs` are the paths of its parts. */
export const bundleView = async ({
  name,
  title,
}: View): Promise<{ html: string; inputs: string[] }> => {
  const { script, style, inputs } = await bundleApp(`${name}.tsx`);
  const html = `<!doctype html>
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
  return { html, inputs };
};
