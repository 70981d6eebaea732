import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPlatformListener, serve, type Served } from "../../src/server/serve.ts";
import { chromium, CHROMIUM_FLAGS } from "../support/chromium.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { published } from "../support/published.ts";

let at: TestPlatform;
let served: Served;
let folder: string;

beforeAll(async () => {
  at = await startPlatform();
  served = await serve(createPlatformListener(at.platform), { host: "127.0.0.1", port: 0 });
  folder = mkdtempSync(join(tmpdir(), "docs-page-"));
});
afterAll(async () => {
  await served.close();
  await at.close();
  rmSync(folder, { recursive: true, maxRetries: 3 });
});

const FLAGS = [
  ...CHROMIUM_FLAGS,
  "--headless",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-logging=stderr",
  "--virtual-time-budget=15000",
  "--dump-dom",
];

const shown = async (url: string): Promise<{ page: string; said: string[] }> => {
  const { stdout, stderr } = await promisify(execFile)(
    String(chromium),
    [...FLAGS, `--user-data-dir=${folder}`, url],
    { maxBuffer: 64 * 1024 * 1024, timeout: 50_000 },
  );
  return { page: stdout, said: stderr.split("\n").filter((line) => line.includes("CONSOLE")) };
};

/** Returns the operations that the page links to under their nouns. */
const linksIn = (page: string): string[] =>
  [...page.matchAll(/href="#\/([^"/]+\/[^"]+)"/g)].map(([, link = ""]) => decodeURIComponent(link));

const wordsIn = (page: string): string => page.replaceAll(/<[^>]*>/g, "").replaceAll("&amp;", "&");

type Described = { operationId: string; summary: string; tags: string[] };

const described = Object.entries(published.paths).flatMap(([path, methods]) =>
  (Object.values(methods) as Described[]).map((operation) => ({ path, ...operation })),
);

it.skipIf(chromium === undefined)(
  "shows every operation under its noun in a browser, without errors (skipped where there is no chromium)",
  async () => {
    const { page, said } = await shown(`${served.url}/docs`);
    expect(said).toEqual([]);
    expect(linksIn(page).toSorted()).toEqual(
      described.map(({ operationId, tags }) => `${tags.join()}/${operationId}`).toSorted(),
    );
    const words = wordsIn(page);
    const unseen = described.filter(
      ({ path, summary }) => !words.includes(path) || !words.includes(summary),
    );
    expect(unseen).toEqual([]);
    expect(words).toContain(`OAS ${published.openapi}`);
    expect(words).not.toContain("OAS 3.0");
  },
);

it.skipIf(chromium === undefined)(
  "detects a browser's errors (skipped where there is no chromium)",
  async () => {
    const { said } = await shown("data:text/html,<script>console.error('a complaint')</script>");
    expect(said).toEqual([expect.stringContaining("a complaint")]);
  },
);
