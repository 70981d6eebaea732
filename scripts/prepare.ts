// Runs at the end of `npm ci`: removes the C headers that come with Node.js. They take 67 MB, and no package here is
// compiled against them.
import { globSync, rmSync } from "node:fs";
import { join } from "node:path";

const installed = join(import.meta.dirname, "../node_modules/node");
for (const headers of globSync("node_modules/*/include", { cwd: installed })) {
  rmSync(join(installed, headers), { recursive: true });
}
