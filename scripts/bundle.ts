import { join, resolve } from "node:path";
import { packExtension } from "./build/archive.ts";

const root = join(import.meta.dirname, "..");
// Another file may be named, for tests.
const out = resolve(root, process.argv[2] ?? "receivables-mcp.mcpb");
await packExtension(out);
process.stdout.write(`${JSON.stringify({ bundle: out })}\n`);
