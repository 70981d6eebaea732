import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openapi } from "../../contract/openapi.ts";
import { cachedFor, etagOf, isKnown } from "./etag.ts";

type About = { headerWord: string; version: string };
type File = { type: string; body: string; headers?: Record<string, string> };

/** A path of the service's own, and who answers a GET to it; undefined where there is no such file. */
export type OwnDocument = {
  path: string;
  serve(request: Request, file: string | undefined): Promise<Response | undefined>;
};

const CACHED = cachedFor(300);

/** A file that is made or read at its first use and stays the same. */
const lasting = (make: () => Promise<File | undefined>) => {
  let made: Promise<(File & { etag: string }) | undefined> | undefined;
  const load = async () => {
    const file = await make();
    return file && { ...file, etag: etagOf(file.body) };
  };
  return async (request: Request): Promise<Response | undefined> => {
    made ??= load();
    const file = await made;
    if (file === undefined) return undefined;
    const { type, body, headers, etag } = file;
    const all = { ...CACHED, ...headers, ETag: etag };
    return isKnown(request, etag)
      ? new Response(null, { status: 304, headers: all })
      : new Response(body, { headers: { ...all, "Content-Type": `${type}; charset=utf-8` } });
  };
};

// Relative, so that the page also works below a proxy's path.
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Receivables platform</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"><p>The viewer is not running. The document is <a href="openapi.json">openapi.json</a>.</p></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

// No validator: it would send the document to somebody else's server.
const START = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#page",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  showExtensions: false,
  validatorUrl: null,
});
`;

// The viewer sets styles on elements, and its pictures are data.
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

const viewer = () => import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js");
const viewerStyle = () => import.meta.resolve("swagger-ui-dist/swagger-ui.css");

// A program that was bundled and moved has left its packages behind; the page then says so.
const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";

const fromPackage = (find: () => string, type: string) =>
  lasting(async () => {
    try {
      return { type, body: await readFile(fileURLToPath(find()), "utf8") };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  });

/** The API document, and a page that shows it with nothing from elsewhere. */
export const documents = (about: About): OwnDocument[] => {
  const spec = lasting(async () => ({
    type: "application/json",
    body: JSON.stringify(openapi(about)),
  }));
  const page = lasting(async () => ({
    type: "text/html",
    body: PAGE,
    headers: { "Content-Security-Policy": POLICY },
  }));
  const files = new Map([
    ["start.js", lasting(async () => ({ type: JAVASCRIPT, body: START }))],
    ["swagger-ui.css", fromPackage(viewerStyle, "text/css")],
    ["swagger-ui-bundle.js", fromPackage(viewer, JAVASCRIPT)],
  ]);
  return [
    { path: "/openapi.json", serve: spec },
    { path: "/docs", serve: page },
    { path: "/docs/{file}", serve: async (request, file) => files.get(file ?? "")?.(request) },
  ];
};
