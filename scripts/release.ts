import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import about from "../package.json" with { type: "json" };
import { createOpenApi } from "../src/contract/openapi.ts";
import { packExtension, packPackage, packPlugins } from "./build/archive.ts";
import { npm } from "./build/npm.ts";
import { type Bom, type Lock, reduceBom } from "./build/sbom.ts";
import { createServerJson, parseRemote } from "./build/server-json.ts";

const ROOT = join(import.meta.dirname, "..");
// Another folder may be named, for tests.
const out = resolve(ROOT, process.argv[2] ?? "release");

const writeJson = (name: string, value: unknown): Promise<void> =>
  writeFile(join(out, name), `${JSON.stringify(value, null, 2)}\n`);

const hash = async (name: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(join(out, name)))
    .digest("hex");

const remote = parseRemote(process.env["RECEIVABLES_RELEASE_REMOTE"]);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const { name, version, license, homepage, mcpName, mcpSummary: summary } = about;

await packPackage(out);
const extension = `${name}-${version}.mcpb`;
const metafile = await packExtension(join(out, extension));
await packPlugins(out);
const sha256 = await hash(extension);
const url = `${homepage}/releases/${version}/${extension}`;
await writeJson(
  "server.json",
  createServerJson({ name, version, summary, homepage, mcpName }, { url, sha256 }, remote),
);
await writeJson("openapi.json", createOpenApi({ headerWord: "Platform", version }));
const bom = await npm("sbom", "--sbom-format", "cyclonedx", "--package-lock-only");
const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as Lock;
const materials = reduceBom(JSON.parse(bom) as Bom, metafile, { name, license, lock });
await writeJson("sbom.cdx.json", materials);

const files = (await readdir(out)).toSorted();
const sums = await Promise.all(files.map(async (file) => `${await hash(file)}  ${file}\n`));
await writeFile(join(out, "SHA256SUMS"), sums.join(""));
process.stdout.write(`${JSON.stringify({ folder: out, files: [...files, "SHA256SUMS"] })}\n`);
