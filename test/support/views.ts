import { mkdtempSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { build } from "esbuild";
import { type Browser, type Frame, launch, type Page } from "puppeteer-core";
import { chromium, CHROMIUM_FLAGS } from "./chromium.ts";
import { type Running, startCli, whenReady } from "./cli.ts";

/** The folder for screenshots; a temporary one unless it is set. */
export const PICTURES = process.env["PICTURES"] ?? mkdtempSync(join(tmpdir(), "pictures-"));

export type Fields = Record<string, unknown>;

/** Calls a tool and returns its structured result. @throws {Error} with the text of a failed call */
export const callTool = async (client: Client, name: string, args: Fields): Promise<Fields> => {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: args });
  if (isError === true) throw new Error(JSON.stringify(content));
  return structuredContent as Fields;
};

export type Theme = "light" | "dark";

/** The opening of a view: the tool of the host's call, and the person's answers to its questions. */
export type ViewOpening = {
  tool: string;
  args?: Record<string, unknown>;
  theme?: Theme;
  answers?: ("accept" | "decline")[];
  mode?: "auto" | "legacy";
  tells?: "context" | "message";
};

export type ViewHost = {
  page: Page;
  baseUrl: string;
  open(opening: ViewOpening): Promise<Frame>;
  /** Returns the questions that the host has shown, and what views told the model. */
  asked(): Promise<{ questions: string[]; told: unknown[] }>;
  /** The messages of the browser's console, without those of the bridge. */
  complaints: string[];
  close(): Promise<void>;
};

const HOST_PATH = "/view-host";

const bundleHost = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "view-host/page.ts")],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    logLevel: "error",
  });
  const script = outputFiles[0]?.text ?? "";
  return `<!doctype html><html lang="en"><head><title>Host</title><link rel="icon" href="data:,">
<style>body{margin:0;background:Canvas;color-scheme:light dark}iframe{display:block;width:100%;border:0;min-height:600px}</style></head>
<body><script>${script}</script></body></html>`;
};

/** Serves the host's page at the server's origin, because browsers send no requests to another one. */
const servePage = async (page: Page, html: string): Promise<void> => {
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isHost = new URL(request.url()).pathname === HOST_PATH;
    void (isHost ? request.respond({ contentType: "text/html", body: html }) : request.continue());
  });
};

const viewFrame = async (page: Page): Promise<Frame> => {
  const element = await page.waitForSelector("iframe");
  const frame = await element?.contentFrame();
  if (!frame) throw new Error("The host shows no view.");
  await frame.waitForSelector("h1, [role=alert]");
  return frame;
};

export type ViewServer = {
  server: Running;
  baseUrl: string;
  browser: Browser;
  /** The data folder of the server. */
  folder: string;
  close(): Promise<void>;
};

/** Starts a real server with the demo data, and a browser. */
export const startViewServer = async (
  settings: Record<string, string> = {},
  prepare: (env: Record<string, string>) => Promise<void> = async () => {},
): Promise<ViewServer> => {
  const folder = await mkdtemp(join(tmpdir(), "views-"));
  const env = {
    RECEIVABLES_DATA: folder,
    RECEIVABLES_GATEWAY_RATE_MINUTE: "0",
    ...settings,
  };
  await prepare(env);
  const server = startCli(["http", "--port", "0"], env);
  const { baseUrl } = await whenReady(server);
  const browser = await launch({ executablePath: String(chromium), args: CHROMIUM_FLAGS });
  return {
    server,
    baseUrl,
    browser,
    folder,
    async close() {
      await browser.close();
      await server.end("SIGTERM");
      await rm(folder, { recursive: true, maxRetries: 3 });
    },
  };
};

/** Connects a client to a server of views. */
export const connectViewClient = async ({ baseUrl }: ViewServer): Promise<Client> => {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: {}, versionNegotiation: { mode: "auto" } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", baseUrl)));
  return client;
};

/** Opens a page that is a host of MCP Apps. */
export const openViewHost = async (
  { baseUrl, browser }: ViewServer,
  width = 1440,
): Promise<ViewHost> => {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 900 });
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await servePage(page, await bundleHost());
  await page.goto(baseUrl + HOST_PATH);
  return {
    page,
    baseUrl,
    complaints,
    async open({ tool, args = {}, theme = "light", mode = "auto", ...rest }) {
      const opening = JSON.stringify({ tool, args, theme, mode, ...rest });
      await page.evaluate(`host.setTheme("${theme}"); host.open(${opening})`);
      return viewFrame(page);
    },
    asked: async () =>
      (await page.evaluate("({questions: host.questions, told: host.told})")) as Awaited<
        ReturnType<ViewHost["asked"]>
      >,
    close: () => page.close(),
  };
};

const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns what axe-core finds wrong in a view. */
export const findViolations = async (frame: Frame): Promise<string[]> => {
  await frame.evaluate(await axe);
  return (await frame.evaluate(
    `axe.run().then(({violations}) => violations.flatMap(({id, nodes}) => nodes.map(({target, failureSummary}) => id + " " + target.join(" ") + ": " + failureSummary)))`,
  )) as string[];
};

type Control = {
  isConnected: boolean;
  disabled?: boolean;
  ariaDisabled: string | null;
  /** Parts of drawings have none. */
  click?(): void;
  dispatchEvent(event: Event): boolean;
};

/**
 * Clicks an element once it is shown and enabled. A click of the mouse misses an element that moves after its place was
 * found, as content that arrives above it makes it do.
 */
export const clickOn = async (place: Page | Frame, selector: string): Promise<void> => {
  await place
    .locator(selector)
    .setVisibility("visible")
    .map((element) => {
      const control = element as unknown as Control;
      // The locator tries again.
      const isOff = control.disabled === true || control.ariaDisabled === "true";
      if (!control.isConnected || isOff) throw new Error("not ready");
      if (control.click) control.click();
      else control.dispatchEvent(new Event("click", { bubbles: true }));
    })
    .wait();
};
