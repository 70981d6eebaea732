import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build, type Metafile, type Plugin } from "esbuild";
import { bundleSite, bundleView } from "../../src/views/bundle-view.ts";
import { SITE_ENTRY, VIEWS } from "../../src/views/views.ts";
import { collectLicenses } from "./licenses.ts";

const ROOT = join(import.meta.dirname, "../..");

// Some dependencies are CommonJS and expect what Node gives such modules.
const COMMON_JS = `import { createRequire as makeRequire } from "node:module";
const require = makeRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;

/** Modules that only compute values from the code: computed now, not at every start. */
const precomputed: Plugin = {
  name: "precomputed",
  setup({ onLoad }) {
    onLoad(
      { filter: /[/\\]src[/\\]mcp[/\\]tools[/\\]listing[/\\]every-tool\.ts$/ },
      async ({ path }) => {
        const values = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
        const lines = Object.entries(values).map(
          // A text to parse is read faster than code that says the same.
          ([name, value]) =>
            `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`,
        );
        return { contents: lines.join("\n"), loader: "js" };
      },
    );
  },
};

/** Views are bundled now, into files beside the program, not at their first request. */
const viewFiles: Plugin = {
  name: "files of views",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\]views[/\\]read-view\.ts$/ }, () => ({
      contents: `import { readFile } from "node:fs/promises";
import { join } from "node:path";
const read = (name) => readFile(join(import.meta.dirname, "views", name), "utf8");
export const readView = (name) => read(name + ".html");
export const readSite = async () => JSON.parse(await read("site.json"));`,
      loader: "js",
    }));
  },
};

/** Writes the views and the page; returns the paths of their parts. */
const writeViews = async (folder: string): Promise<string[]> => {
  await mkdir(folder, { recursive: true });
  const all: string[] = [];
  for (const view of VIEWS) {
    const { html, inputs } = await bundleView(view);
    await writeFile(join(folder, `${view.name}.html`), html);
    all.push(...inputs);
  }
  const { inputs, ...site } = await bundleSite(SITE_ENTRY);
  await writeFile(join(folder, "site.json"), JSON.stringify(site));
  return [...all, ...inputs];
};

/** The file with the licence texts of the packages that the program contains. */
export const LICENSES = "THIRD-PARTY-LICENSES.txt";

const PDFIUM = "node_modules/@embedpdf/pdfium/dist/pdfium.wasm";

/** The best quality takes twenty seconds for a tenth less. */
const BROTLI_QUALITY = 9;

/** PDFium, which src/mcp/files/formats/pdfium.ts starts; compressed it has a third of its size. */
const writePdfium = async (outdir: string): Promise<void> => {
  const program = await readFile(
    fileURLToPath(import.meta.resolve("@embedpdf/pdfium/pdfium.wasm")),
  );
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  await writeFile(join(outdir, "pdfium.wasm.br"), brotliCompressSync(program, { params }));
};

const OURS = /[/\\](src|tools|prompts)[/\\](?!.*node_modules).*\.ts$/;

/** Only of a namespace does the bundler see which parts are used; zod has sentences in fifty languages. */
const zodInParts: Plugin = {
  name: "zod in parts",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!OURS.test(path)) return undefined;
      const text = await readFile(path, "utf8");
      const contents = text.replace('import { z } from "zod";', 'import * as z from "zod";');
      return { contents, loader: "ts" };
    });
  },
};

/** oidc-provider stores records under its class names, so the bundler must not rename these classes. */
const modelNames: Plugin = {
  name: "names of the models of oidc-provider",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]oidc-provider[/\\]lib[/\\]models[/\\]\w+\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replace(
        /\bclass ([A-Z]\w+)( extends [^{]+)? \{/g,
        '$& static name = "$1";',
      );
      return { contents, loader: "js" };
    });
  },
};

/** Builds the program, which needs no node_modules, with the demo data beside it; returns what each file consists of. */
export const bundle = async (outdir: string): Promise<Metafile> => {
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: {
      cli: "src/bin/cli.ts",
      keychain: "src/bin/keychain.ts",
      "scan-worker": "src/platform/scan/worker.ts",
      "text-worker": "src/mcp/files/worker.ts",
      "reader-thread": "src/platform/store/sqlite/reader/thread.ts",
    },
    // Machine code for one system; the program does without it where it is not installed.
    external: ["@napi-rs/keyring"],
    outdir,
    plugins: [precomputed, viewFiles, zodInParts, modelNames],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    chunkNames: "part-[hash]",
    banner: { js: COMMON_JS },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "external",
    logLevel: "warning",
    metafile: true,
  });
  await cp(join(ROOT, "demo"), join(outdir, "demo"), { recursive: true });
  const ofViews = await writeViews(join(outdir, "views"));
  await writePdfium(outdir);
  const inputs = [...Object.keys(metafile.inputs), ...ofViews, PDFIUM];
  await writeFile(join(outdir, LICENSES), await collectLicenses(inputs));
  await chmod(join(outdir, "cli.js"), 0o755);
  return metafile;
};
