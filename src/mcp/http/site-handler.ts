import { hash } from "node:crypto";
import { hostHeaderValidationResponse } from "@modelcontextprotocol/server";
import { readSite } from "../../views/read-view.ts";
import { VIEWS } from "../../views/views.ts";
import { listViews, readViewResource } from "../resources/view-resources.ts";
import { toHostName } from "./http-server.ts";
import { renderEndpoint, renderSite, type SitePage } from "./site-page.ts";

export type SiteNeeds = Omit<SitePage, "config"> & {
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
  "Cache-Control": "no-store",
};

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
  `sandbox allow-scripts; default-src 'none'; script-src ${hashOf(html, "script")}; style-src ${hashOf(html, "style")}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

const respond = (type: string, body: string, policy = "default-src 'none'"): Response =>
  new Response(body, {
    headers: {
      ...COMMON,
      "Content-Type": `${type}; charset=utf-8`,
      "Content-Security-Policy": policy,
    },
  });

const respondWithView = async (path: string, { tools }: SiteNeeds): Promise<Response> => {
  const view = VIEWS.find(({ name }) => path === `/app/${name}.html`);
  const read = view && (await readViewResource(view.uri, tools));
  const [content] = read?.contents ?? [];
  if (content === undefined || !("text" in content)) return new Response(null, { status: 404 });
  return respond("text/html", content.text, viewPolicy(content.text));
};

/**
 * Creates the handler of `/`: a page that says what runs here and shows the views in the browser. The page is a host
 * like any other: it calls `/mcp`, with the rights of the person.
 */
export const createSiteHandler = (needs: SiteNeeds): ((request: Request) => Promise<Response>) => {
  const { auth, mcpUrl, clientId, tools } = needs;
  const views = listViews(tools).map(({ name, title }) => ({
    name,
    title,
    tool: VIEWS.find((view) => view.name === name)?.shows[0],
  }));
  const page = renderSite({ ...needs, config: { auth, mcpUrl, clientId, views } });
  const endpoint = renderEndpoint(needs);
  const hosts = needs.hosts.map(toHostName);
  return async (request) => {
    const refusal = hostHeaderValidationResponse(request, hosts);
    if (refusal !== undefined) return refusal;
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const { pathname } = new URL(request.url);
    if (pathname === "/") return respond("text/html", page, PAGE_POLICY);
    if (/^\/mcp\/?$/.test(pathname)) return respond("text/html", endpoint);
    if (pathname === "/app/site.js") return respond("text/javascript", (await readSite()).script);
    if (pathname === "/app/site.css") return respond("text/css", (await readSite()).style);
    return respondWithView(pathname, needs);
  };
};
