import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { bundle } from "./build/bundle.ts";

const root = join(import.meta.dirname, "..");
// Another file may be named, for tests.
const out = resolve(root, process.argv[2] ?? "receivables-mcp.mcpb");
const mcpb = join(root, "node_modules", ".bin", "mcpb");

const stage = await mkdtemp(join(tmpdir(), "receivables-bundle-"));
try {
  await bundle(join(stage, "dist"));
  for (const name of ["manifest.json", "README.md", "LICENSE"]) {
    await copyFile(join(root, name), join(stage, name));
  }
  // Marks the program's files as ES modules.
  await writeFile(join(stage, "package.json"), `${JSON.stringify({ type: "module" })}\n`);
  const { stderr } = await promisify(execFile)(mcpb, ["pack", stage, out]);
  process.stderr.write(stderr);
  process.stdout.write(`${JSON.stringify({ bundle: out })}\n`);
} finally {
  await rm(stage, { recursive: true, force: true });
}
