#!/usr/bin/env node
import { enableCompileCache, flushCompileCache } from "node:module";
import envPaths from "env-paths";

// Whatever this process makes is its owner's alone.
process.umask(0o077);

const folders = envPaths("receivables-mcp", { suffix: "" });

// Before everything else is loaded: from the second start on, nothing is compiled again. In the owner's own folder, since
// whoever writes to it decides what runs here.
enableCompileCache(folders.cache);

// Hosts may kill what they started, so the cache is not left to the end.
setTimeout(flushCompileCache, 2000).unref();

const { run } = await import("./run.ts");
await run(folders.data);
