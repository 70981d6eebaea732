import { hash } from "node:crypto";
import { type Asset, createAsset } from "../../kit/asset.ts";
import { createLazy } from "../../kit/lazily.ts";
import { readSite } from "../../views/read-view.ts";
import { VIEWS } from "../../views/views.ts";
import { listViews, readViewResource } from "../resources/view-resources.ts";
import { toHostName } from "./http-server.ts";
import { refuseInText, refuseOtherHost, refuseUnknownPath } from "./responses.ts";
import { parseRecordPath } from "../results/record-pages.ts";
import { renderEndpoint, renderSite, type SitePage } from "./site-page.ts";

export type SiteNeeds = Omit<SitePage, "config" | "root" | "assets"> & {
  /** Host names that the Host header may contain. */
  hosts: readonly string[];
  /** The tools of the server. */
  tools: readonly { name: string }[];
  /** The id by which the page is a client of the built-in sign-in. */
  clientId: string;
};

const COMMON = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
};

/** For names that change with the content. */
const IMMUTABLE = "public, max-age=31536000, immutable";
const ALWAYS_ASK = "no-cache";

const NO_POLICY = "default-src 'none'";
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns the hash of the content of the only element with a name. */
const hashOf = (html: string, element: string): string => {
  const start = html.indexOf(`<${element}>`) + element.length + 2;
  const content = html.slice(start, html.lastIndexOf(`</${element}>`));
  return `'sha256-${hash("sha256", content, "base64")}'`;
};

/** Allows the script and the style of a view alone, in a frame of this server without an origin. */
const viewPolicy = (html: string): string =>
  `sandbox allow-scripts; default-src 'none'; script-src ${hashOf(html, "script")}; style-src ${hashOf(html, "style")}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

/** A file that is served, with its policy and the time for which it may be stored. */
type Served = { asset: Asset; policy: string; cache: string };

const respond = async ({ asset, policy, cache }: Served, request: Request): Promise<Response> => {
  const { body, headers } = await asset.read(request);
  return new Response(body, {
    headers: { ...COMMON, "Cache-Control": cache, "Content-Security-Policy": policy, ...headers },
  });
};

type NamedView = { name: string; title: string; tool: string; file: string };

const HASH_DIGITS = 12;

const typeOf = (name: string): string => (name.endsWith(".css") ? "text/css" : "text/javascript");

/** Loads the views, each under its name and under one that changes with its content. */
const loadViews = async (tools: SiteNeeds["tools"], files: Map<string, Served>) => {
  const views: NamedView[] = [];
  for (const { uri, name, title = name } of listViews(tools)) {
    const { contents = [] } = (await readViewResource(uri, tools)) ?? {};
    const [content] = contents;
    if (content === undefined || !("text" in content)) continue;
    const { text } = content;
    const asset = createAsset("text/html", text);
    const file = `${name}-${hash("sha256", text, "hex").slice(0, HASH_DIGITS)}.html`;
    files.set(`/app/${name}.html`, { asset, policy: viewPolicy(text), cache: ALWAYS_ASK });
    files.set(`/app/${file}`, { asset, policy: viewPolicy(text), cache: IMMUTABLE });
    const tool = VIEWS.find((view) => view.name === name)?.shows[0] ?? "";
    views.push({ name, title, tool, file });
  }
  return views;
};

/** Whether a path is that of the MCP endpoint, where browsers get a page of their own. */
const isEndpoint = (path: string): boolean => /^\/mcp\/?$/.test(path);

/** Loads everything that the page consists of. */
const loadSite = async (needs: SiteNeeds) => {
  const { auth, mcpUrl, clientId, tools } = needs;
  const site = await readSite();
  const files = new Map<string, Served>(
    site.files.map(({ name, text }) => [
      `/app/${name}`,
      { asset: createAsset(typeOf(name), text), policy: NO_POLICY, cache: IMMUTABLE },
    ]),
  );
  const config = { auth, mcpUrl, clientId, views: await loadViews(tools, files) };
  const assets = { script: site.script, style: site.style };
  /** Renders the page at a path; relative addresses work behind any prefix. */
  const renderAt = (path: string): Served => {
    const root = "../".repeat(path.split("/").length - 2);
    const record = parseRecordPath(path);
    const html = renderSite({ ...needs, assets, root, config: { ...config, root, record } });
    return {
      asset: createAsset("text/html", html),
      policy: PAGE_POLICY,
      cache: ALWAYS_ASK,
    };
  };
  return { files, renderAt };
};

/**
 * Creates the handler of `/`: a page that says what runs here and shows the views in the browser. The page is a host
 * like any other: it calls `/mcp`, with the rights of the person.
 */
export const createSiteHandler = (needs: SiteNeeds): ((request: Request) => Promise<Response>) => {
  const hosts = needs.hosts.map(toHostName);
  const load = createLazy(() => loadSite(needs));
  const endpoint: Served = {
    asset: createAsset("text/html", renderEndpoint(needs)),
    policy: NO_POLICY,
    cache: ALWAYS_ASK,
  };
  return async (request) => {
    const refusal = refuseOtherHost(request, hosts);
    if (refusal !== undefined) return refusal;
    if (request.method !== "GET" && request.method !== "HEAD") {
      const headers = { Allow: "GET, HEAD, OPTIONS" };
      return request.method === "OPTIONS"
        ? new Response(null, { status: 204, headers })
        : refuseInText(405, `This is a page. Assistants connect to ${needs.mcpUrl}.`, headers);
    }
    const { pathname } = new URL(request.url);
    if (isEndpoint(pathname)) return respond(endpoint, request);
    const { files, renderAt } = await load();
    const served = pathname.startsWith("/app/") ? files.get(pathname) : renderAt(pathname);
    return served === undefined ? refuseUnknownPath() : respond(served, request);
  };
};
