import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const outdir = join(root, "dist");

// Some dependencies are CommonJS and ask for Node's modules in its way.
const REQUIRE = `import { createRequire as makeRequire } from "node:module";
const require = makeRequire(import.meta.url);`;

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
  banner: { js: REQUIRE },
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: true,
  legalComments: "external",
  logLevel: "warning",
});
await chmod(join(outdir, "cli.js"), 0o755);
