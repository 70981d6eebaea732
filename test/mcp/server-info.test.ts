import { expect, it } from "vitest";
import { createOptions, HOSTS } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const MOST_BYTES = 4096;
const PNG_SIGNATURE = "89504e470d0a1a0a";
/** The width in the header of a PNG: four bytes after signature, length and type. */
const WIDTH_AT = 16;

verifies("WK-05");
it.each(HOSTS)("names the server with website and icons to a %s", async (_name, open) => {
  const host = await open(await createOptions(scriptBroker({})));
  const info = host.client.getServerVersion();
  expect(info).toMatchObject({
    description: expect.stringMatching(/accounts-receivable/),
    websiteUrl: expect.stringMatching(/^https:\/\//),
  });
  const icons = info?.icons ?? [];
  expect(icons.map(({ mimeType }) => mimeType)).toEqual(["image/svg+xml", "image/png"]);
  expect(Buffer.byteLength(icons.map(({ src }) => src).join(""))).toBeLessThanOrEqual(MOST_BYTES);
  const [svg, png] = icons.map(({ src }) => Buffer.from(src.split(",")[1] ?? "", "base64"));
  expect(svg?.toString()).toMatch(/^<svg [^>]*viewBox="0 0 32 32">.*<\/svg>$/);
  expect(svg?.toString()).not.toMatch(/script|href|on\w+=/);
  expect(png?.subarray(0, 8).toString("hex")).toBe(PNG_SIGNATURE);
  expect(png?.readUInt32BE(WIDTH_AT)).toBe(64);
});

it.each(HOSTS)("has %s read its icons once, not with each response", async (name, open) => {
  const host = await open(await createOptions(scriptBroker({})));
  const { _meta: meta = {} } = await host.client.callTool({
    name: "disputes_get",
    arguments: { disputeId: "d-1" },
  });
  const info = meta["io.modelcontextprotocol/serverInfo"];
  const { title, version } = host.client.getServerVersion() ?? {};
  expect(info).toEqual(
    name.includes("2026") ? { name: "receivables-mcp", title, version } : undefined,
  );
});
