import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, expect, it } from "vitest";
import { LICENSES } from "../../scripts/build/bundle.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

type Manifest = { server: { entry_point: string; mcp_config: { env: Record<string, string> } } };

const folder = useFolder();
const unpacked = join(folder, "unpacked");

beforeAll(async () => {
  const file = join(folder, "receivables-mcp.mcpb");
  await run(process.execPath, [join(ROOT, "scripts/bundle.ts"), file]);
  await run(join(ROOT, "node_modules/.bin/mcpb"), ["unpack", file, unpacked]);
});

it("has a manifest that the format's official validator accepts", async () => {
  const checker = join(ROOT, "node_modules/.bin/mcpb");
  const { stdout } = await run(checker, ["validate", "manifest.json"], { cwd: ROOT });
  expect(stdout).toContain("passes");
});

it("contains the program, its name and its start command, and nothing else", async () => {
  expect((await readdir(unpacked)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "dist",
    "docs",
    "manifest.json",
    "package.json",
  ]);
});

verifies("HS-10");
it("has the licence texts of its parts, the views and PDFium included", async () => {
  const text = await readFile(join(unpacked, "dist", LICENSES), "utf8");
  for (const name of ["zod", "oidc-provider", "preact", "@embedpdf/pdfium", "koa-compose"]) {
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\S* \\(`, "m"));
  }
  expect(text).toContain("Redistribution and use in source and binary forms");
});

it("starts according to the manifest, with every field of its form empty", async () => {
  const manifest = JSON.parse(await readFile(join(unpacked, "manifest.json"), "utf8")) as Manifest;
  const { entry_point, mcp_config } = manifest.server;
  const client = new Client({ name: "desktop", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(unpacked, entry_point)],
      // A desktop host hands over the template itself where a field was left empty.
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        XDG_DATA_HOME: join(folder, "data"),
        ...mcp_config.env,
      },
      stderr: "ignore",
    }),
  );
  expect((await client.listTools()).tools.length).toBeGreaterThan(40);
  const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
  expect(answer.structuredContent).toMatchObject({ total: 300 });
  await client.close();
});
