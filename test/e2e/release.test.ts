import { Ajv } from "ajv";
import formats from "ajv-formats";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { LICENSES } from "../../scripts/build/bundle.ts";
import { PLUGINS } from "../../scripts/build/plugins.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";
import about from "../../package.json" with { type: "json" };
import type { createServerJson } from "../../scripts/build/server-json.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

const folder = useFolder();
const first = join(folder, "first");
const second = join(folder, "second");

const REMOTE = "https://receivables.example/mcp";

beforeAll(async () => {
  for (const out of [first, second]) {
    // One after the other, since both write to dist/.
    const env = { ...process.env, RECEIVABLES_RELEASE_REMOTE: REMOTE };
    await run(process.execPath, [join(ROOT, "scripts/release.ts"), out], { env });
  }
}, 300_000);

const read = (name: string): Promise<string> => readFile(join(first, name), "utf8");
const readJson = async (name: string): Promise<unknown> => JSON.parse(await read(name)) as unknown;

const text = { type: "string" };
const url = { type: "string", format: "uri" };
const closed = { type: "object", additionalProperties: false };

/**
 * What the schema 2025-12-11 of the registry of MCP servers says of the fields that we write. It allows further ones;
 * this one refuses them, so that a misspelt field is found.
 */
const SERVER_SCHEMA = {
  ...closed,
  required: ["$schema", "name", "description", "version"],
  properties: {
    $schema: {
      const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    },
    name: { ...text, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", minLength: 3, maxLength: 200 },
    title: { ...text, minLength: 1, maxLength: 100 },
    description: { ...text, minLength: 1, maxLength: 100 },
    version: { ...text, maxLength: 255 },
    websiteUrl: url,
    remotes: {
      type: "array",
      items: {
        ...closed,
        required: ["type", "url"],
        properties: { type: { const: "streamable-http" }, url },
      },
    },
    packages: {
      type: "array",
      items: {
        ...closed,
        required: ["registryType", "identifier", "transport"],
        properties: {
          registryType: { enum: ["npm", "mcpb"] },
          identifier: text,
          version: { ...text, minLength: 1, not: { const: "latest" } },
          runtimeHint: text,
          fileSha256: { ...text, pattern: "^[a-f0-9]{64}$" },
          transport: { ...closed, required: ["type"], properties: { type: { const: "stdio" } } },
          environmentVariables: {
            type: "array",
            items: {
              ...closed,
              required: ["name"],
              properties: {
                name: text,
                description: text,
                format: { enum: ["string", "number", "boolean", "filepath"] },
                isRequired: { type: "boolean" },
                isSecret: { type: "boolean" },
              },
            },
          },
        },
      },
    },
  },
};

describe("a release", () => {
  verifies("RC-03");
  it("has every artefact with its checksum, and is the same when it is made again", async () => {
    const sums = await read("SHA256SUMS");
    const named = sums.trimEnd().split("\n");
    for (const line of named) {
      const [sum, name = ""] = line.split("  ");
      const content = await readFile(join(first, name));
      expect(createHash("sha256").update(content).digest("hex")).toBe(sum);
    }
    const names = named.map((line) => line.slice(66));
    expect([...names, "SHA256SUMS"].toSorted()).toEqual((await readdir(first)).toSorted());
    const described = ["openapi.json", "sbom.cdx.json", "server.json"];
    const plugins = PLUGINS.map(({ host }) => `${about.name}-${host}-${about.version}.zip`);
    const extension = `${about.name}-${about.version}.mcpb`;
    expect(names).toEqual(expect.arrayContaining([...described, ...plugins, extension]));
    expect(await readFile(join(second, "SHA256SUMS"), "utf8")).toBe(sums);
  });

  verifies("C-59");
  it("lists the packages whose code it contains, and no others", async () => {
    const bom = (await readJson("sbom.cdx.json")) as {
      bomFormat: string;
      components: { name: string; "bom-ref": string; version: string }[];
    };
    expect(bom.bomFormat).toBe("CycloneDX");
    const names = bom.components.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["zod", "hono", "oidc-provider", "@cantoo/pdf-lib"]),
    );
    expect(names).not.toContain("vitest");
    expect(names).not.toContain("esbuild");
    const refs = bom.components.map((one) => one["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    expect(bom.components.every(({ version }) => version !== "")).toBe(true);
  });

  verifies("HS-10");
  it("has the licence text of each of these packages in the npm package", async () => {
    const { components } = (await readJson("sbom.cdx.json")) as {
      components: { "bom-ref": string }[];
    };
    const archive = (await readdir(first)).find((name) => name.endsWith(".tgz")) ?? "";
    const { stdout: text } = await promisify(execFile)(
      "tar",
      ["-xOzf", join(first, archive), `package/dist/${LICENSES}`],
      { maxBuffer: 16 * 1024 * 1024 },
    );
    const lacking = components.filter((one) => {
      const at = one["bom-ref"].lastIndexOf("@");
      const title = `${one["bom-ref"].slice(0, at)} ${one["bom-ref"].slice(at + 1)} (`;
      return !text.includes(`\n${title}`);
    });
    expect(lacking).toEqual([]);
  });

  verifies("RC-04");
  it("names npm package, extension and the publisher's server for the registry of MCP servers", async () => {
    const server = (await readJson("server.json")) as ReturnType<typeof createServerJson>;
    const sum = /^([0-9a-f]{64}) {2}.*\.mcpb$/m.exec(await read("SHA256SUMS"))?.[1];
    expect(server).toMatchObject({
      // The registry compares it with the npm package.
      name: about.mcpName,
      version: about.version,
      packages: [
        { registryType: "npm", identifier: about.name, transport: { type: "stdio" } },
        { registryType: "mcpb", fileSha256: sum, transport: { type: "stdio" } },
      ],
      remotes: [{ type: "streamable-http", url: REMOTE }],
    });
    const validate = formats.default(new Ajv({ allErrors: true })).compile(SERVER_SCHEMA);
    validate(server);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...server, description: "x".repeat(101) })).toBe(false);
  });
});
