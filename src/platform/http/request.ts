import type { IncomingMessage } from "node:http";
import { Problem } from "../../contract/errors.ts";
import type { Service } from "../../contract/operation.ts";
import { findRecordPath } from "../../contract/record-paths.ts";
import type { Call, Principal, Result } from "../handlers.ts";
import { type Span, traced } from "../../kit/tracing.ts";
import { toErrorFields } from "../../kit/log.ts";
import { listIgnoredFields } from "../ignored-fields.ts";
import {
  buildCachedResponse,
  discard,
  isPage,
  findListing,
  type Sending,
  toResponse,
} from "./response.ts";
import { authorize } from "./authenticate.ts";
import { createCall, Rehearsed } from "./call.ts";
import {
  buildAuditEntry,
  createContext,
  createDone,
  isAudited,
  type Audited,
  getPlatformHeader,
  type RequestContext,
  type RequestNeeds,
} from "./context.ts";
import { buildCommonHeaders, findHeader } from "./headers.ts";
import { buildHeldRights, NO_PERMISSIONS } from "./held-rights.ts";
import { AlreadyDone, type Keyed, keyOf, type StoredAnswer } from "./idempotency.ts";
import { openBody, parseInputBody, parseTarget, readBody } from "./input.ts";
import { buildProblemResponse, toProblem } from "./problem.ts";
import { type Reply, toReply } from "./reply.ts";
import { type Cut, SlowReader } from "./stream.ts";
import { limitFailures } from "./throttle.ts";

type Handler = (input: unknown, call: Call) => Promise<Result<unknown>>;

/** Counts the rows of an answer for its audit entry; undefined where it is no list. */
const countRows = (body: unknown): number | undefined => {
  if (Array.isArray(body)) return body.length;
  if (isPage(body)) return body.rowCount;
  const listing = findListing(body);
  if (listing !== undefined) return listing.page === undefined ? listing.total : undefined;
  if (typeof body !== "object" || body === null || !("data" in body)) return undefined;
  return Array.isArray(body.data) ? body.data.length : undefined;
};

type KeyedService = Exclude<Service, "gateway">;
type KeyHolder = Principal & { tenantId: string };

const exportKeyIn = ({ request }: RequestContext): string | undefined =>
  findHeader(request, "x-api-key");

const unlessRefused = (error: unknown): undefined => {
  if (!(error instanceof Problem) || error.status !== 401) throw error;
};

const admitKeyHolder = async (
  { limiter }: RequestNeeds,
  context: RequestContext,
  service: KeyedService,
  caller: KeyHolder,
): Promise<void> => {
  context.caller = caller;
  context.tenantId = caller.tenantId;
  context.rateLimitHeaders = await limiter.keyed(service, caller.tenantId, context.now);
};

/** Identifies the caller of a public operation: a valid export key is optional, and counted for its tenant. */
const identifyVisitor = async (needs: RequestNeeds, context: RequestContext): Promise<void> => {
  const { service } = context.operation;
  if (service === "gateway") return;
  const caller = await needs.authenticate.exportKey(exportKeyIn(context)).catch(unlessRefused);
  if (caller !== undefined) return admitKeyHolder(needs, context, service, caller);
  context.rateLimitHeaders = await needs.limiter.visitor(context.ip, context.now);
};

/** Names the headers: their word is a setting, and a client with another word learns it here. */
const createMissingCredential = ({ headerWord: word }: RequestNeeds): Problem =>
  new Problem(
    "unauthenticated",
    `Send a live session token in X-${word}-Auth or an API key in X-${word}-Api-Key.`,
  );

const identifyUser = async (needs: RequestNeeds, context: RequestContext): Promise<void> => {
  const { request, now } = context;
  const token = getPlatformHeader(needs, request, "auth");
  const key = getPlatformHeader(needs, request, "api-key");
  if (token === undefined && key === undefined) throw createMissingCredential(needs);
  const person = await needs.authenticate.gateway({ token, key, now });
  // A request that the path's tenant refuses is audited in the caller's home tenant.
  context.tenantId = person.homeTenantId;
  context.caller = { ...person, may: NO_PERMISSIONS };
  context.rateLimitHeaders = await needs.limiter.gateway(person.id, now);
  const pathTenant = context.params["tenantId"];
  if (pathTenant === undefined) return;
  context.caller = await person.enter(pathTenant);
  context.tenantId = pathTenant;
};

/** Authenticates, rate-limits and authorizes the request. @throws {Problem} where one of them refuses it. */
const identify = async (needs: RequestNeeds, context: RequestContext): Promise<void> => {
  const { operation } = context;
  if (operation.access === "public") return identifyVisitor(needs, context);
  const { service } = operation;
  if (service === "gateway") await identifyUser(needs, context);
  else {
    const caller = await needs.authenticate.exportKey(exportKeyIn(context));
    await admitKeyHolder(needs, context, service, caller);
  }
  if (context.caller !== null) authorize(operation, context.caller);
};

/** Reads and validates the input, and the Idempotency-Key. @throws {Problem} naming each fault. */
const readInput = async (context: RequestContext): Promise<RequestContext["input"]> => {
  const { operation, request, params, incoming } = context;
  context.sentBody = await readBody(operation, request, incoming);
  const target = parseTarget(operation, params, context.url);
  const body =
    operation.raw === null
      ? parseInputBody(operation, context.sentBody)
      : openBody(operation.raw, request);
  if (!operation.lateValidation && operation.raw === null) {
    context.ignored = listIgnoredFields(context.sentBody, body);
  }
  context.keyed = keyOf(operation, findHeader(request, "idempotency-key") ?? null, {
    tenantId: context.tenantId,
    principal: context.caller?.id ?? "",
    params,
    body,
    now: context.now,
  });
  context.input = { ...target, body };
  return context.input;
};

/** Writes the audit entry of a request, unless it was written with its change. */
const recordAudit = async (
  needs: RequestNeeds,
  context: RequestContext,
  outcome: Audited,
): Promise<void> => {
  if (context.audited) return;
  const entry = buildAuditEntry(context, needs.newId, outcome);
  if (!isAudited(needs, context, entry.tenantId) && outcome.always !== true) return;
  context.audited = true;
  await needs.audit.record(entry);
};

/** Resets the connection of an answer that cannot be completed: a client must not take a part for the whole. */
export const createCut = (
  { log }: RequestNeeds,
  { incoming, request, requestId }: Pick<RequestContext, "incoming" | "request" | "requestId">,
): { cut?: Cut } => {
  const socket = incoming?.socket;
  if (socket === undefined) return {};
  return {
    cut(error) {
      const level = error instanceof SlowReader ? "warn" : "error";
      if (!request.signal.aborted) log[level]("answer.cut", { requestId, ...toErrorFields(error) });
      socket.resetAndDestroy();
    },
  };
};

/** Returns the path of a created record, where an operation reads it. */
const buildLocation = (
  { publicPath }: RequestNeeds,
  { operation, url }: RequestContext,
  createdId: string | undefined,
): Record<string, string> => {
  const path = createdId === undefined ? undefined : findRecordPath(operation);
  if (createdId === undefined || path === undefined) return {};
  const name = path === operation.path ? "" : `/${encodeURIComponent(createdId)}`;
  return { Location: publicPath + url.pathname + name };
};

const respond = async (
  needs: RequestNeeds,
  context: RequestContext,
  { status, headers, body, createdId, audit: facts }: Reply,
): Promise<Response> => {
  const { operation, request, url } = context;
  const all = {
    ...buildCommonHeaders(context.requestId),
    ...headers,
    ...buildLocation(needs, context, createdId),
    ...context.rateLimitHeaders,
    ...buildHeldRights(context),
  };
  const rowCount = countRows(body);
  if (operation.cacheSeconds > 0) {
    const { response, bytes } = buildCachedResponse(request, operation.cacheSeconds, body, all);
    await recordAudit(needs, context, { status: response.status, facts, rowCount });
    createDone(needs, context, response)(bytes);
    return response;
  }
  try {
    await recordAudit(needs, context, { status, facts, createdId, rowCount });
  } catch (error) {
    await discard(body);
    throw error;
  }
  const done = createDone(needs, context, { status });
  const spool: Sending["spool"] = (pieces, release) =>
    needs.spoolRest(context.tenantId, pieces, release);
  const { publicPath } = needs;
  const sending = { method: request.method, ...createCut(needs, context), spool, publicPath, done };
  return toResponse(sending, status, body, url, all);
};

/** Answers a repeated request with the stored answer to the first one. */
const answerReplay = (
  needs: RequestNeeds,
  context: RequestContext,
  { output, headers, recordId }: StoredAnswer,
): Promise<Response> =>
  respond(needs, context, {
    status: context.operation.status,
    headers: { ...headers, "Idempotency-Replayed": "true" },
    body: output,
    createdId: recordId,
    audit: {},
  });

/** Acts once for each Idempotency-Key. */
const performOnce = async (
  needs: RequestNeeds,
  context: RequestContext,
  keyed: Keyed,
  act: () => Promise<Result<unknown>>,
): Promise<Response> => {
  const { idempotency, store } = needs;
  const stored = await idempotency.find(store.read, keyed);
  if (stored !== undefined) return answerReplay(needs, context, stored);
  try {
    return await respond(needs, context, toReply(context, await idempotency.once(keyed, act)));
  } catch (error) {
    if (!(error instanceof AlreadyDone)) throw error;
    const first = await idempotency.find(store.read, keyed);
    if (first === undefined) throw error;
    return answerReplay(needs, context, first);
  }
};

/** Runs the handler without its change, and answers as if it had no body. A refusal is that of the change. */
const rehearse = async (
  needs: RequestNeeds,
  context: RequestContext,
  act: () => Promise<Result<unknown>>,
): Promise<Response> => {
  const { keyed } = context;
  const stored = keyed && (await needs.idempotency.find(needs.store.read, keyed));
  try {
    if (stored === undefined) await act();
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
  }
  return respond(needs, context, { status: 204, headers: {}, body: null, audit: {} });
};

const perform = async (
  needs: RequestNeeds,
  context: RequestContext,
  handler: Handler,
): Promise<Response> => {
  await identify(needs, context);
  context.audited = context.dryRun;
  const input = await readInput(context);
  const act = () => handler(input, createCall(needs, context));
  if (context.dryRun) return rehearse(needs, context, act);
  const { keyed } = context;
  if (keyed !== undefined) return performOnce(needs, context, keyed, act);
  return respond(needs, context, toReply(context, await act()));
};

/** Records a refusal. Returns the refusal, or the failure to record it, which is then the answer. */
const recordRefusal = async (
  needs: RequestNeeds,
  context: RequestContext,
  problem: Problem,
): Promise<Problem> => {
  try {
    const facts = problem.details.audit ?? {};
    const always = problem.code === "invalid_credentials";
    await recordAudit(needs, context, { status: problem.status, facts, always });
    return problem;
  } catch (failure) {
    return problem.code === "unavailable"
      ? problem
      : toProblem(failure, needs.log, context.requestId);
  }
};

const refuse = async (
  needs: RequestNeeds,
  context: RequestContext,
  error: unknown,
): Promise<Response> => {
  const found = await limitFailures(needs, context, toProblem(error, needs.log, context.requestId));
  const problem = await recordRefusal(needs, context, found);
  const { requestId, ip: address } = context;
  if (problem.code === "invalid_credentials")
    needs.log.warn("login.failed", { requestId, address });
  const instance = { requestId, path: context.url.pathname };
  const done = createDone(needs, context, problem);
  const response = buildProblemResponse(problem, context.operation.service, instance, done);
  // The rest of a refused file is not read, so the connection cannot be used again.
  if (context.operation.raw !== null) response.headers.set("Connection", "close");
  const own = { ...context.rateLimitHeaders, ...buildHeldRights(context) };
  for (const [name, value] of Object.entries(own)) {
    response.headers.set(name, value);
  }
  return response;
};

/** Creates the request handler of one operation. */
export const createServe =
  (
    needs: RequestNeeds,
    route: Pick<RequestContext, "operation" | "route" | "dryRun">,
    handler: Handler,
  ) =>
  async (
    request: Request,
    params: Record<string, string>,
    incoming: IncomingMessage | undefined,
  ): Promise<Response> => {
    const context = createContext(needs, route, request, params, incoming);
    const { method, headers } = request;
    const answer = async (span: Span): Promise<Response> => {
      const response = await perform(needs, context, handler).catch((error: unknown) =>
        refuse(needs, context, error),
      );
      span.set({ "http.response.status_code": response.status });
      if (response.status >= 500) span.fail(String(response.status));
      return response;
    };
    return traced(
      () => `${method} ${route.route}`,
      () => ({
        kind: "server",
        attributes: { "http.request.method": method, "http.route": route.route },
        parent: {
          traceparent: headers.get("traceparent"),
          tracestate: headers.get("tracestate"),
        },
      }),
      answer,
    );
  };
