import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createOpenApiInSteps } from "../../contract/openapi.ts";
import { createAsset } from "../../kit/asset.ts";
import { getCode } from "../../kit/error.ts";
import { createLazy } from "../../kit/lazily.ts";
import { buildCacheHeaders, computeEtag, matchesIfNoneMatch } from "./etag.ts";

type About = { headerWord: string; version: string; hasPage?: boolean };
type File = { type: string; body: string; headers?: Record<string, string> };

/** A document of the service itself. `serve` answers GET; undefined means 404. */
export type OwnDocument = {
  path: string;
  serve(request: Request, file: string | undefined): Promise<Response | undefined>;
};

const CACHED = buildCacheHeaders(300);

/** Creates a handler for a file that is built at its first use and then cached, in each coding. */
const createCachedFile = (make: () => Promise<File | undefined>) => {
  const load = createLazy(async () => {
    const file = await make();
    if (file === undefined) return undefined;
    const { type, body, headers = {} } = file;
    return { asset: createAsset(type, body), headers, etag: computeEtag(body) };
  });
  return async (request: Request): Promise<Response | undefined> => {
    const file = await load();
    if (file === undefined) return undefined;
    const { body, coding, headers } = await file.asset.read(request);
    // Each coding has a tag of its own (RFC 9110, section 8.8.3.3).
    const etag = coding === undefined ? file.etag : file.etag.replace(/"$/, `-${coding}"`);
    const cached = { ...CACHED, ...file.headers, Vary: "Accept-Encoding", ETag: etag };
    return matchesIfNoneMatch(request, etag)
      ? new Response(null, { status: 304, headers: cached })
      : new Response(body, { headers: { ...cached, ...headers } });
  };
};

const PAGE_LINK = `<p style="margin: 1rem 20px; font-family: sans-serif"><a href="./">Disputes, payments and accounts in the browser, and how to connect assistants</a></p>
`;

// Relative, so that the page also works below a proxy's path.
const renderPage = (hasPage: boolean): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Receivables platform</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
${hasPage ? PAGE_LINK : ""}<div id="page"><p>The viewer is not running. The document is <a href="openapi.json">openapi.json</a>.</p></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

// Called 3.0: for 3.1 the viewer resolves the whole document at once, which takes four times as long.
// validatorUrl is null because the validator would send the document to a third party.
const START = `const dark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", setTheme);
setTheme();
const showVersion = ({ React }, version) => ({
  wrapComponents: {
    OpenAPIVersion: () => () => React.createElement("small", { className: "version-stamp" },
      React.createElement("pre", { className: "version" }, "OAS " + version)),
  },
});
const show = (spec) => SwaggerUIBundle({
  plugins: [(system) => showVersion(system, spec.openapi)],
  spec: { ...spec, openapi: "3.0.3" },
  dom_id: "#page",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  showExtensions: false,
  validatorUrl: null,
});
fetch("openapi.json").then((answer) => answer.json()).then(show);
`;

// Swagger UI sets inline styles and uses data: images.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const JAVASCRIPT = "text/javascript";

const resolveViewer = () => import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js");
const resolveViewerStyle = () => import.meta.resolve("swagger-ui-dist/swagger-ui.css");

// A bundled program may lack the package; the page then links to the document instead.
const readFromPackage = (find: () => string, type: string) =>
  createCachedFile(async () => {
    try {
      return { type, body: await readFile(fileURLToPath(find()), "utf8") };
    } catch (error) {
      if (getCode(error) === "ERR_MODULE_NOT_FOUND") return undefined;
      throw error;
    }
  });

/** The document takes 100 ms to make, in which the server would answer no other request. */
const writeSpec = async (about: About): Promise<string> => {
  const steps = createOpenApiInSteps(about);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return JSON.stringify(value);
    await setImmediate();
  }
};

/** Returns the OpenAPI document and a page that shows it, without resources from other hosts. */
export const createDocuments = (about: About): OwnDocument[] => {
  const spec = createCachedFile(async () => ({
    type: "application/json",
    body: await writeSpec(about),
  }));
  const page = createCachedFile(async () => ({
    type: "text/html",
    body: renderPage(about.hasPage ?? false),
    headers: { "Content-Security-Policy": POLICY },
  }));
  const files = new Map([
    ["start.js", createCachedFile(async () => ({ type: JAVASCRIPT, body: START }))],
    ["swagger-ui.css", readFromPackage(resolveViewerStyle, "text/css")],
    ["swagger-ui-bundle.js", readFromPackage(resolveViewer, JAVASCRIPT)],
  ]);
  return [
    { path: "/openapi.json", serve: spec },
    { path: "/docs", serve: page },
    { path: "/docs/{file}", serve: async (request, file) => files.get(file ?? "")?.(request) },
  ];
};
