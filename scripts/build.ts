import { chmod, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
// Another folder than dist/ may be named, for tests.
const outdir = resolve(root, process.argv[2] ?? "dist");

// Some dependencies are CommonJS and expect what Node gives such modules.
const COMMON_JS = `import { createRequire as makeRequire } from "node:module";
const require = makeRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;

await rm(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { cli: "src/bin/cli.ts" },
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  chunkNames: "part-[hash]",
  banner: { js: COMMON_JS },
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: true,
  legalComments: "external",
  logLevel: "warning",
});
await chmod(join(outdir, "cli.js"), 0o755);
