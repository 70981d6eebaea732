import { type Html, html } from "../../pages/html.ts";
import { type Brand, OWN_BRAND, renderHead } from "../../pages/page.ts";

/** The source of the page's token: none, the built-in sign-in, or the person. */
export type SiteAuth = "none" | "builtin" | "static" | "issuer";

/** A block to copy that connects one host, and its place. */
export type ConnectHint = { host: string; place: string; text: string };

export type SitePage = {
  auth: SiteAuth;
  mcpUrl: string;
  version: string;
  /** Whether the REST platform and its documentation are served here too. */
  hasDocs: boolean;
  hints: readonly ConnectHint[];
  /** The operator's name and logo, if the settings give them. */
  brand: Brand | undefined;
  /** The way from the page to the address of the server: empty, or `../` for the page of a record. */
  root: string;
  /** The names of script and style. */
  assets: { script: string; style: string };
  /** Values for the script, which are not executed. */
  config: object;
};

const ACCESS: Record<SiteAuth, string> = {
  none: "It serves the demo tenant on this computer; no sign-in is needed.",
  builtin: "People sign in with their accounts on the platform.",
  static: "Callers need a token from the operator.",
  issuer: "Callers need a token of the operator's authorization server.",
};

const renderDocs = (hasDocs: boolean, root: string): Html | undefined =>
  hasDocs
    ? html`<p>
        The REST platform runs here too: <a href="${root}docs">its operations</a> and
        <a href="${root}ready">its state</a>.
      </p>`
    : html`<p><a href="${root}ready">State of the server</a></p>`;

// A script element with another type is data; `<` is escaped so that no value can end it.
const renderConfig = (config: object): Html => ({
  html: `<script type="application/json" id="config">${JSON.stringify(config).replaceAll("<", "\\u003c")}</script>`,
});

const renderLogo = ({ logo }: Brand): Html | undefined =>
  logo === undefined ? undefined : html`<img src="${logo}" alt="" height="28" /> `;

const APP = html`<div id="app">
  <p class="loading" role="status">Connecting…</p>
  <noscript>The views need JavaScript.</noscript>
</div>`;

const renderConnect = (auth: SiteAuth, hints: readonly ConnectHint[]): Html =>
  html`<details class="connect" ${auth === "none" ? undefined : html`open`}>
    <summary>Connect an assistant</summary>
    <p>${ACCESS[auth]}</p>
    <dl>
      ${hints.map(
        ({ host, place, text }) =>
          html`<dt>${host}: ${place}</dt>
            <dd>
              <pre><code>${text}</code></pre>
            </dd>`,
      )}
    </dl>
    <p>Then ask: “Which open disputes are oldest, and who should work on them?”</p>
  </details>`;

/**
 * Renders the page of the server: what runs here, the views, and how to connect hosts. Where people sign in, the way in
 * comes first: a link to a record leads there.
 */
export const renderSite = ({
  auth,
  mcpUrl,
  version,
  hasDocs,
  hints,
  config,
  root,
  assets,
  brand = OWN_BRAND,
}: SitePage): string => {
  const connect = renderConnect(auth, hints);
  return html`<!doctype html>
    <html lang="en">
      ${renderHead(
        brand.name,
        html`<link rel="icon" href="data:," />
          <link rel="stylesheet" href="${root}app/${assets.style}" />
          ${renderConfig(config)}
          <script type="module" src="${root}app/${assets.script}"></script>`,
      )}
      <body>
        <header class="site">
          <h1>${renderLogo(brand)}${brand.name}</h1>
          <p class="meta">
            MCP server ${version} for accounts receivable, at <code>${mcpUrl}</code>
          </p>
        </header>
        <main>
          ${auth === "none" ? html`${connect}${APP}` : html`${APP}${connect}`}
          ${renderDocs(hasDocs, root)}
        </main>
      </body>
    </html> `.html;
};

/** Renders the page that a browser gets at the MCP endpoint, which is for programs. */
export const renderEndpoint = ({
  mcpUrl,
  brand = OWN_BRAND,
}: Pick<SitePage, "mcpUrl" | "brand">): string =>
  html`<!doctype html>
    <html lang="en">
      ${renderHead(`${brand.name}: MCP endpoint`)}
      <body>
        <h1>This address is for assistants</h1>
        <p>
          Give <code>${mcpUrl}</code> to an assistant as the address of its MCP server.
          <a href="${mcpUrl.slice(0, -"mcp".length)}">The page for people</a> says how, and shows
          disputes, payments and accounts.
        </p>
      </body>
    </html> `.html;
