import type { IncomingMessage } from "node:http";
import type { ConfirmationWay } from "../../contract/confirmation.ts";
import type { AuditFacts } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { keepSpan } from "../../kit/tracing.ts";
import type { ReportRequest } from "../../kit/telemetry.ts";
import type { Principal } from "../handlers.ts";
import type { NewEntry } from "../store/audit/entries.ts";
import type { Store } from "../store/port.ts";
import { type Audit, buildEntry, parseConfirmedBy, parseTool } from "./audit.ts";
import type { Authenticate } from "./authenticate.ts";
import { requestIdOf, findHeader } from "./headers.ts";
import type { Idempotency, Keyed } from "./idempotency.ts";
import type { RateLimiter } from "../rate-limiter.ts";
import type { SpoolRest } from "./spool.ts";

export type RequestNeeds = {
  store: Store;
  clock: Clock;
  newId: NewId;
  log: Log;
  /** Called once for each answered request. */
  report: ReportRequest;
  audit: Audit;
  /** Reads of the gateway and the ingest API that have an audit entry: those of MCP tools, or all. */
  auditReads: "mcp" | "all";
  authenticate: Authenticate;
  idempotency: Idempotency;
  limiter: RateLimiter;
  /** The word in header names such as X-Platform-Auth. */
  headerWord: string;
  /** Returns the client's address; X-Forwarded-For counts only from trusted proxies. */
  addressOf(incoming: IncomingMessage | undefined): string;
  /** Returns the address at which the client reaches this service. */
  baseUrlOf(request: Request, incoming: IncomingMessage | undefined): Promise<string>;
  /** The path under which a proxy serves this service, for links; empty where there is none. */
  publicPath: string;
  spoolRest: SpoolRest;
};

/** A request as it came in, and what is known of it so far. No step changes it: each returns what it has found out. */
export type RequestContext = Readonly<{
  operation: Operation;
  /** The path template that matched: the operation's own, one of its aliases, or that of its dry run. */
  route: string;
  /** Whether the change is rolled back: then the request has no audit entry once its caller was identified. */
  dryRun: boolean;
  request: Request;
  /** Node's own message, where the request came over a socket. */
  incoming: IncomingMessage | undefined;
  requestId: string;
  url: URL;
  /** Epoch milliseconds at which the request arrived. */
  now: number;
  /** The same time on the monotonic clock. */
  began: number;
  ip: string;
  /** The MCP tool that the request names. */
  tool: string | undefined;
  /** The way in which a person confirmed the change that the tool makes. */
  confirmedBy: ConfirmationWay | undefined;
  origin: "api" | "mcp";
  /** Path parameters, not validated. */
  params: Readonly<Record<string, string>>;
  /** Null until authentication, and where the operation is public and no credential was sent. */
  caller: Principal | null;
  /** The tenant whose audit log gets the entry; empty until authentication. */
  tenantId: string;
  /** Rate limit headers of the response, refusals included. */
  rateLimitHeaders: Readonly<Record<string, string>>;
  /** The JSON body, before validation. */
  sentBody: unknown;
  /** The validated input; undefined where the request was refused before. */
  input: ValidInput | undefined;
}>;

export type ValidInput = Readonly<{
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}>;

/** The way to answer a validated request. */
export type Terms = Readonly<{
  /** Paths of the body's fields that validation removed. */
  ignored: string[];
  /** Set where the request has an Idempotency-Key and its operation creates a record. */
  keyed: Keyed | undefined;
}>;

export const getPlatformHeader = (
  { headerWord }: Pick<RequestNeeds, "headerWord">,
  request: Request,
  name: string,
): string | undefined => findHeader(request, `x-${headerWord}-${name}`);

export const createContext = (
  needs: RequestNeeds,
  { operation, route, dryRun }: Pick<RequestContext, "operation" | "route" | "dryRun">,
  request: Request,
  params: Record<string, string>,
  incoming: IncomingMessage | undefined,
): RequestContext => ({
  operation,
  route,
  dryRun,
  request,
  incoming,
  requestId: requestIdOf(request, needs.newId),
  url: new URL(request.url),
  now: needs.clock(),
  began: performance.now(),
  ip: needs.addressOf(incoming),
  tool: parseTool(getPlatformHeader(needs, request, "mcp-tool")),
  confirmedBy: parseConfirmedBy(getPlatformHeader(needs, request, "confirmed-by")),
  origin: getPlatformHeader(needs, request, "client") === "mcp" ? "mcp" : "api",
  params,
  caller: null,
  tenantId: "",
  rateLimitHeaders: {},
  sentBody: undefined,
  input: undefined,
});

/** Creates the function that reports the request. Call it when the answer is complete, or was cut. */
export const createDone = (
  { report }: Pick<RequestNeeds, "report">,
  context: RequestContext,
  { status, code }: { status: number; code?: string },
): ((bytes: number) => void) =>
  keepSpan((bytes) =>
    report({
      server: "platform",
      requestId: context.requestId,
      method: context.request.method,
      route: context.route,
      status,
      ms: performance.now() - context.began,
      bytes,
      tenantId: context.tenantId || undefined,
      principal: context.caller?.id,
      tool: context.tool,
      code,
    }),
  );

/** Whether a request has an audit entry: all but reads of the gateway and the ingest API that no tool made. */
export const isAudited = (
  { auditReads }: Pick<RequestNeeds, "auditReads">,
  { operation, tool }: RequestContext,
  tenantId: string,
): boolean =>
  tenantId !== "" &&
  (operation.service === "export" ||
    operation.effect !== "read" ||
    tool !== undefined ||
    auditReads === "all");

/** The outcome of a request for its audit entry. */
export type Audited = {
  status: number;
  facts: AuditFacts;
  createdId?: string | undefined;
  rowCount?: number | undefined;
  /** The entry is recorded also if no tenant is known. */
  always?: boolean;
};

/** Builds the audit entry of a request from its response's status and the facts that the service reported. */
export const buildAuditEntry = (
  context: RequestContext,
  newId: NewId,
  { status, facts, createdId, rowCount }: Audited,
): NewEntry => {
  const { operation, caller, input } = context;
  return buildEntry(
    operation,
    {
      tenantId: facts.tenantId ?? context.tenantId,
      at: context.now,
      method: context.request.method,
      tool: context.tool,
      confirmedBy: context.confirmedBy,
      actor: facts.actor ?? caller?.id,
      resourceId: facts.resourceId,
      createdId,
      pathParams: context.params,
      params: {
        ...context.params,
        ...(input === undefined ? {} : operation.auditMetadata(input)),
        ...facts.metadata,
      },
      outcome: {
        status,
        body: input === undefined ? context.sentBody : input.body,
        before: facts.before,
      },
      rowCount,
    },
    newId,
  );
};

/** The audit entry of one request. It is written once: with the change, with the answer or with the refusal. */
export type AuditOnce = {
  /** Called when the change has written the entry. */
  isWritten: () => void;
  write: (context: RequestContext, outcome: Audited) => Promise<void>;
};

export const createAuditOnce = (needs: RequestNeeds): AuditOnce => {
  let isDone = false;
  const isWritten = (): void => {
    isDone = true;
  };
  return {
    isWritten,
    async write(context, outcome) {
      if (isDone) return;
      const entry = buildAuditEntry(context, needs.newId, outcome);
      if (!isAudited(needs, context, entry.tenantId) && outcome.always !== true) return;
      isWritten();
      await needs.audit.record(entry);
    },
  };
};
