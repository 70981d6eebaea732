import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const MAX_BYTES = 18 * 2 ** 20;

type Packed = { filename: string; unpackedSize: number };

let folder: string;
let packed: Packed;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "package-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const [first] = JSON.parse(stdout.slice(stdout.indexOf("["))) as Packed[];
  if (first === undefined) throw new Error(`npm pack printed ${stdout}`);
  packed = first;
  await run("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
});
afterAll(() => rm(folder, { recursive: true, maxRetries: 3 }));

describe("the npm package", () => {
  it("is at most 18 MiB unpacked and installs nothing but the optional keychain", async () => {
    expect(packed.unpackedSize).toBeLessThanOrEqual(MAX_BYTES);
    const manifest = JSON.parse(await readFile(join(folder, "package/package.json"), "utf8"));
    expect(manifest.dependencies).toBeUndefined();
    expect(Object.keys(manifest.optionalDependencies)).toEqual(["@napi-rs/keyring"]);
  });

  it("serves the demo tenant without installed dependencies", async () => {
    const client = new Client({ name: "test", version: "1" });
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder, RECEIVABLES_LOG: "silent" };
    const args = [join(folder, "package/dist/cli.js")];
    const data = { RECEIVABLES_DATA: join(folder, "data") };
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args,
        env: { ...env, ...data },
        stderr: "ignore",
      }),
    );
    const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
    expect(answer.structuredContent).toMatchObject({ total: 300 });
    await client.close();
  });
});
