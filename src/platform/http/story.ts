import type { IncomingMessage } from "node:http";
import type { Operation } from "../../contract/operation.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Principal } from "../handlers.ts";
import type { NewEntry } from "../store/audit-chain.ts";
import type { Store } from "../store/port.ts";
import { type Audit, entryOf, toolOf } from "./audit.ts";
import type { Authenticate } from "./authenticate.ts";
import { requestIdOf } from "./headers.ts";
import type { Idempotency, Keyed } from "./idempotency.ts";
import type { Limiter } from "./limit.ts";
import type { View } from "./views.ts";

export type RequestNeeds = {
  store: Store;
  clock: Clock;
  newId: NewId;
  log: Log;
  audit: Audit;
  authenticate: Authenticate;
  idempotency: Idempotency;
  limiter: Limiter;
  view: View;
  /** The word in the header names, such as Platform. */
  headerWord: string;
  /** The sender's address, behind whatever proxies are trusted. */
  addressOf(incoming: IncomingMessage | undefined): string;
  /** Where the sender reaches this service. */
  baseUrlOf(request: Request, incoming: IncomingMessage | undefined): Promise<string>;
};

/** What is learnt of one request on its way through. */
export type Story = {
  operation: Operation;
  request: Request;
  /** Node's own message, where the request came over a socket. */
  incoming: IncomingMessage | undefined;
  requestId: string;
  url: URL;
  now: number;
  ip: string;
  tool: string | undefined;
  origin: "api" | "mcp";
  params: Record<string, string>;
  caller: Principal | null;
  /** Whose audit log the request belongs to, once known. */
  tenantId: string;
  body: unknown;
  /** What the record was before the change, where the service tells. */
  was: unknown;
  /** What the service adds to the audit entry. */
  mentioned: Record<string, string>;
  /** Set where the request names an Idempotency-Key that counts. */
  keyed: Keyed | undefined;
  /** Of the answer, where it is no refusal. */
  status: Operation["status"];
  /** Whether its audit entry is written. */
  logged: boolean;
  /** Of the answer, where it is no refusal. */
  headers: Record<string, string>;
  /** Of the answer, whatever it is. */
  limitHeaders: Record<string, string>;
};

export const platformHeader = (
  { headerWord }: Pick<RequestNeeds, "headerWord">,
  request: Request,
  name: string,
): string | undefined => request.headers.get(`x-${headerWord}-${name}`) ?? undefined;

export const beginStory = (
  needs: RequestNeeds,
  operation: Operation,
  request: Request,
  params: Record<string, string>,
  incoming: IncomingMessage | undefined,
): Story => ({
  operation,
  request,
  incoming,
  requestId: requestIdOf(request, needs.newId),
  url: new URL(request.url),
  now: needs.clock(),
  ip: needs.addressOf(incoming),
  tool: toolOf(platformHeader(needs, request, "mcp-tool")),
  origin: platformHeader(needs, request, "client") === "mcp" ? "mcp" : "api",
  params,
  caller: null,
  tenantId: "",
  body: undefined,
  was: undefined,
  mentioned: {},
  keyed: undefined,
  status: operation.status,
  logged: false,
  headers: {},
  limitHeaders: {},
});

// The gateway's log holds what came through the MCP server; the export service's, every request.
export const isLogged = (story: Story): boolean =>
  story.tenantId !== "" && (story.operation.service === "export" || story.tool !== undefined);

/** The audit entry of a request that is answered with a status. */
export const entryFor = (
  story: Story,
  status: number,
  newId: NewId,
  rowCount?: number,
): NewEntry => {
  const { caller } = story;
  return entryOf(
    story.operation,
    {
      tenantId: story.tenantId,
      at: story.now,
      method: story.request.method,
      tool: story.tool,
      userId: caller === null || caller.via === "export-key" ? undefined : caller.id,
      params: { ...story.params, ...story.mentioned },
      outcome: { status, body: story.body, was: story.was },
      rowCount,
    },
    newId,
  );
};
