import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectStdio } from "../support/cli.ts";
import about from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const MAX_BYTES = 18 * 2 ** 20;
const KEYCHAIN = "@napi-rs/keyring";

let folder: string;
let modules: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "package-"));
  await run(process.execPath, [join(ROOT, "scripts/package.ts"), folder]);
  const archive = join(folder, `${about.name}-${about.version}.tgz`);
  const installed = join(folder, "installed");
  await mkdir(installed);
  // Nothing is fetched. The keychain is optional, so npm leaves it out where its cache lacks it.
  const options = ["--offline", "--no-audit", "--no-fund", "--prefix", installed];
  await run("npm", ["install", ...options, archive], { cwd: installed });
  modules = join(installed, "node_modules");
}, 300_000);
afterAll(() => rm(folder, { recursive: true, maxRetries: 3 }));

describe("the installed npm package", () => {
  it("has at most 18 MiB and brings nothing but the optional keychain", async () => {
    const paths = await readdir(join(modules, about.name), { recursive: true });
    const files = await Promise.all(paths.map((path) => stat(join(modules, about.name, path))));
    const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    const names = (await readdir(modules)).filter((name) => !name.startsWith("."));
    expect(["@napi-rs", about.name]).toEqual(expect.arrayContaining(names));
    const manifest = JSON.parse(await readFile(join(modules, about.name, "package.json"), "utf8"));
    expect(manifest).toEqual({
      ...about,
      private: undefined,
      dependencies: undefined,
      devDependencies: undefined,
      optionalDependencies: { [KEYCHAIN]: expect.any(String) },
      devEngines: undefined,
      allowScripts: undefined,
      scripts: undefined,
      scarfSettings: undefined,
    });
  });

  it("serves the demo tenant", async () => {
    const env = { HOME: folder, RECEIVABLES_DATA: join(folder, "data") };
    const client = await connectStdio(env, { program: join(modules, ".bin", about.name) });
    const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
    expect(answer.structuredContent).toMatchObject({ total: 300 });
    await client.close();
  });
});
