import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { startCli, whenReady } from "../../test/support/cli.ts";
import { signingIn } from "../../test/support/signing.ts";
import { type ReceivedSpan, startTraceReceiver } from "../../test/support/trace-receiver.ts";

const TOOL = "audit_logs_list";
const TOKEN = "picture".padEnd(40, "x");
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const HOST = "00f067aa0ba902b7";
const OUT = join(import.meta.dirname, "../../docs/pictures/trace.svg");

const createKey = async (folder: string): Promise<string> => {
  const store = await openSqlite(join(folder, "receivables.db"), signingIn(folder));
  const needs = { store, clock: systemClock, newId: randomId };
  await createTenant(needs, { tenantId: "acme", name: "Acme" });
  const { apiKey } = await issueKey(needs, { tenantId: "acme", name: "picture" });
  await store.close();
  return apiKey;
};

/** Calls a tool twice through two processes, and returns the spans of the second call, when all code is loaded. */
const recordCall = async (folder: string): Promise<readonly ReceivedSpan[]> => {
  const collector = await startTraceReceiver();
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const apiKey = await createKey(folder);
  const platform = startCli(["platform", "--port", "0"], { RECEIVABLES_DATA: folder, ...traces });
  const { baseUrl } = await whenReady(platform);
  const tokens = join(folder, "tokens");
  await writeFile(tokens, `${TOKEN} default read\n`, { mode: 0o600 });
  const server = startCli(["http", "--port", "0"], {
    ...traces,
    RECEIVABLES_DATA: join(folder, "mcp"),
    RECEIVABLES_BASE_URL: baseUrl,
    RECEIVABLES_TENANT_ID: "acme",
    RECEIVABLES_EXT_API_KEY: apiKey,
    RECEIVABLES_HTTP_TOKENS_FILE: tokens,
  });
  const { mcpUrl = "" } = await whenReady(server);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const client = new Client({ name: "host", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit: { headers } }),
  );
  const call = { name: TOOL, arguments: {} };
  await client.callTool(call);
  const _meta = { traceparent: `00-${TRACE}-${HOST}-01` };
  await client.callTool({ ...call, _meta });
  await client.close();
  await server.end("SIGTERM");
  await platform.end("SIGTERM");
  await collector.close();
  return collector.spans.filter(({ traceId }) => traceId === TRACE);
};

type Row = { span: ReceivedSpan; depth: number };

/** Orders spans as a tree, children by the time of their start. */
const toRows = (spans: readonly ReceivedSpan[], parent: string, depth: number): Row[] =>
  spans
    .filter(({ parentId }) => parentId === parent)
    .toSorted((one, other) => Number(one.startNs - other.startNs))
    .flatMap((span) => [{ span, depth }, ...toRows(spans, span.id, depth + 1)]);

const MS = 1e6;
const ROW = 30;
const LEFT = 380;
const WIDTH = 900;
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.t{fill:#59636e}.l{stroke:#d1d9e0}
.m{fill:#8250df}.p{fill:#0969da}.s{fill:#1a7f37}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.t{fill:#9198a1}.l{stroke:#3d444d}.m{fill:#ab7df8}.p{fill:#4493f8}.s{fill:#3fb950}}`;

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The color of a bar: MCP server, platform or SQL. */
const classOf = ({ span, depth }: Row, platformDepth: number): string => {
  if (/^(SELECT|INSERT|UPDATE|DELETE|BEGIN|COMMIT)\b/i.test(span.name)) return "s";
  return depth >= platformDepth ? "p" : "m";
};

const paint = (rows: readonly Row[]): string => {
  const starts = rows.map(({ span }) => span.startNs);
  const start = starts.reduce((least, one) => (one < least ? one : least));
  const end = rows.reduce((most, { span }) => (span.endNs > most ? span.endNs : most), start);
  const total = Number(end - start);
  const scale = (WIDTH - LEFT - 70) / total;
  const routes = rows.filter(({ span }) => span.name.startsWith("GET /api"));
  const platformDepth = routes[1]?.depth ?? Infinity;
  const lines = rows.map((row, index) => {
    const { span, depth } = row;
    const y = 36 + index * ROW;
    const x = LEFT + Number(span.startNs - start) * scale;
    const width = Math.max(2, Number(span.endNs - span.startNs) * scale);
    const took = (Number(span.endNs - span.startNs) / MS).toFixed(1);
    return `<line class="l" x1="0" x2="${WIDTH}" y1="${y + 20}" y2="${y + 20}"/>
<text x="${8 + depth * 14}" y="${y + 11}">${escapeXml(span.name)}</text>
<rect class="${classOf(row, platformDepth)}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="14" rx="3"/>
<text class="t" x="${(x + width + 6).toFixed(1)}" y="${y + 11}">${took} ms</text>`;
  });
  const height = 44 + rows.length * ROW;
  const legend = ["m MCP server", "p platform", "s SQL"].map((entry, index) => {
    const [kind, ...name] = entry.split(" ");
    const x = LEFT + index * 120;
    return `<rect class="${kind}" x="${x}" y="8" width="12" height="12" rx="3"/><text x="${x + 18}" y="19">${name.join(" ")}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>The trace of one call of ${TOOL}: the MCP server, its request to the platform, and the SQL statements.</title>
<style>${STYLE}</style>
<text x="8" y="19">host calls ${TOOL}</text>
${legend.join("\n")}
${lines.join("\n")}
</svg>
`;
};

/** Draws the trace of a tool call that two processes have exported. */
export const drawTrace = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "trace-"));
  try {
    const spans = await recordCall(folder);
    await writeFile(OUT, paint(toRows(spans, HOST, 0)));
  } finally {
    await rm(folder, { recursive: true, maxRetries: 3 });
  }
};
