#!/usr/bin/env node
import nodeModule from "node:module";
import envPaths from "env-paths";

const NEEDED = 24;

const start = async (): Promise<void> => {
  // Whatever this process makes is its owner's alone.
  process.umask(0o077);

  const folders = envPaths("receivables-mcp", { suffix: "" });

  // Before everything else is loaded: from the second start on, nothing is compiled again. In the owner's own folder, since
  // whoever writes to it decides what runs here.
  nodeModule.enableCompileCache(folders.cache);

  // Hosts may kill what they started, so the cache is not left to the end.
  setTimeout(nodeModule.flushCompileCache, 2000).unref();

  const { run } = await import("./run.ts");
  await run(folders.data);
};

// An older Node would end somewhere in the middle, with words that help nobody.
if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `receivables-mcp needs Node.js ${NEEDED} or newer; this is ${process.version}. Get it from https://nodejs.org, or start it in a checkout with "npm run -s cli", which brings its own.\n`,
  );
  process.exitCode = 1;
} else {
  await start();
}
