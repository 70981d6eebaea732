import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { published } from "../support/published.ts";
import { verifies } from "../support/verifies.ts";

let at: TestPlatform;

beforeAll(async () => {
  at = await startPlatform();
});
afterAll(() => at.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  at.call("GET", path, { headers });

verifies("OP-50");
it("answers other requests while it makes the API document", async () => {
  const answered: string[] = [];
  await Promise.all(
    ["/openapi.json", "/health"].map(async (path) => {
      await get(path);
      answered.push(path);
    }),
  );
  expect(answered).toEqual(["/health", "/openapi.json"]);
});

verifies("C-46");
it("serves the API document without a credential, and lets caches store it", async () => {
  const { status, headers, body } = await get("/openapi.json");
  expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  expect(body).toEqual(JSON.parse(JSON.stringify(published)));
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  const etag = headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]{32}"$/);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await get("/openapi.json", { "If-None-Match": known });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
  }
  expect((await get("/openapi.json", { "If-None-Match": '"other"' })).status).toBe(200);
});

verifies("HS-08");
it.each(["br", "gzip"])("serves the documents in %s to clients that read it", async (coding) => {
  const open = coding === "br" ? brotliDecompressSync : gunzipSync;
  const send = (path: string, headers: Record<string, string> = {}) =>
    at.platform.fetch(new Request(`http://platform.test${path}`, { headers }));
  for (const path of ["/openapi.json", "/docs", "/docs/swagger-ui-bundle.js"]) {
    const plain = await send(path);
    const text = await plain.text();
    const coded = await send(path, { "Accept-Encoding": coding });
    const bytes = Buffer.from(await coded.arrayBuffer());
    expect(coded.headers.get("content-encoding")).toBe(coding);
    expect(coded.headers.get("vary")).toBe("Accept-Encoding");
    expect(open(bytes).toString()).toBe(text);
    expect(bytes.length).toBeLessThan(text.length * 0.7);
    const etag = coded.headers.get("etag") ?? "";
    expect(etag).not.toBe(plain.headers.get("etag"));
    const known = await send(path, { "Accept-Encoding": coding, "If-None-Match": etag });
    expect(known.status).toBe(304);
  }
});

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

it("serves the page and every file that it names, with the right type and from this server only", async () => {
  const page = await get("/docs");
  expect([page.status, page.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => link);
  const files = links.filter((link) => link !== "data:," && link !== "openapi.json");
  expect(files.toSorted()).toEqual([
    "docs/start.js",
    "docs/swagger-ui-bundle.js",
    "docs/swagger-ui.css",
  ]);
  for (const file of files) {
    const { pathname } = new URL(file, "http://platform.test/docs");
    const { status, headers, text } = await get(pathname);
    const ending = file.split(".").at(-1) ?? "";
    expect([file, status, headers.get("content-type")]).toEqual([file, 200, TYPES[ending]]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(text.length).toBeGreaterThan(100);
  }
});

it("allows only own scripts on the page, and no frames around it", async () => {
  const policy = (await get("/docs")).headers.get("content-security-policy") ?? "";
  const rules = new Map(policy.split("; ").map((rule) => [rule.split(" ")[0], rule]));
  expect(rules.get("default-src")).toBe("default-src 'none'");
  expect(rules.get("script-src")).toBe("script-src 'self'");
  expect(rules.get("connect-src")).toBe("connect-src 'self'");
  expect(rules.get("frame-ancestors")).toBe("frame-ancestors 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
});

it.each(["nothing.js", "package.json", "..%2Fpackage.json", "index.html", "constructor"])(
  "serves no other file beside it, such as %s",
  async (file) => {
    const { status, body } = await get(`/docs/${file}`);
    expect([status, body.code]).toEqual([404, "not_found"]);
  },
);
