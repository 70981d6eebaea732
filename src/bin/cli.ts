#!/usr/bin/env node
import nodeModule from "node:module";
import envPaths from "env-paths";
import { makeFolder } from "../kit/make-folder.ts";

const NEEDED = 24;

const start = async (): Promise<void> => {
  // Files that this process creates are readable by their owner only.
  process.umask(0o077);

  const folders = envPaths("receivables-mcp", { suffix: "" });

  // Must run before the program is imported. The cache is in the owner's folder, because its content is executed.
  // Node.js tries for ever to make the folder where a file system refuses it with ENOENT.
  try {
    await makeFolder(folders.cache);
    nodeModule.enableCompileCache(folders.cache);
  } catch {
    // Starts are slower without the cache.
  }

  // Hosts may kill the process, so the cache is also written early.
  setTimeout(nodeModule.flushCompileCache, 2000).unref();

  const { run } = await import("./cli/run.ts");
  await run(folders.data);
};

// Without this check an older Node.js would fail with an unclear error.
if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `receivables-mcp needs Node.js ${NEEDED} or newer; this is ${process.version}. Get it from https://nodejs.org, or start it in a checkout with "npm run -s cli", which uses its own.\n`,
  );
  process.exitCode = 1;
} else {
  await start();
}
