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
  type AuditOnce,
  createAuditOnce,
  createContext,
  createDone,
  getPlatformHeader,
  type RequestContext,
  type RequestNeeds,
  type Terms,
  type ValidInput,
} from "./context.ts";
import { buildCommonHeaders, findHeader } from "./headers.ts";
import { AlreadyDone, type Keyed, keyOf, type StoredAnswer } from "./idempotency.ts";
import { openBody, parseInputBody, parseTarget, readBody } from "./input.ts";
import { buildProblemResponse, toProblem } from "./problem.ts";
import { type Reply, toReply } from "./reply.ts";
import { type Cut, SlowReader } from "./stream.ts";
import { limitFailures } from "./throttle.ts";
import { HELD_RIGHTS } from "../../contract/index.ts";
import { TenantPaused } from "../store/port.ts";

/** The permissions of a person who has not entered a tenant. */
const NO_PERMISSIONS: Principal["may"] = new Set();

/**
 * Names the rights of the credential in an answer to the MCP server, refusals included, so that it lists only the tools
 * that they allow. Empty for other clients, and for answers that shared caches may store.
 */
const buildHeldRights = ({
  origin,
  operation,
  caller,
}: Pick<RequestContext, "origin" | "operation" | "caller">): Record<string, string> => {
  if (origin !== "mcp" || caller === null || caller.may === NO_PERMISSIONS) return {};
  if (operation.cacheSeconds > 0) return {};
  return { [HELD_RIGHTS.header]: [...caller.may].join(", ") || "none" };
};

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

/** The result of a step of the identification. */
type Found = Partial<Pick<RequestContext, "caller" | "tenantId" | "rateLimitHeaders">>;

const admitKeyHolder = async function* admitKeyHolder(
  { limiter }: RequestNeeds,
  { now }: RequestContext,
  service: KeyedService,
  caller: KeyHolder,
): AsyncGenerator<Found, Principal> {
  yield { caller, tenantId: caller.tenantId };
  yield { rateLimitHeaders: await limiter.keyed(service, caller.tenantId, now) };
  return caller;
};

/** Identifies the caller of a public operation: a valid export key is optional, and counted for its tenant. */
const identifyVisitor = async function* identifyVisitor(
  needs: RequestNeeds,
  context: RequestContext,
): AsyncGenerator<Found, void> {
  const { service } = context.operation;
  if (service === "gateway") return;
  const caller = await needs.authenticate.exportKey(exportKeyIn(context)).catch(unlessRefused);
  if (caller !== undefined) yield* admitKeyHolder(needs, context, service, caller);
  else yield { rateLimitHeaders: await needs.limiter.visitor(context.ip, context.now) };
};

/** Names the headers: their word is a setting, and a client with another word learns it here. */
const createMissingCredential = ({ headerWord: word }: RequestNeeds): Problem =>
  new Problem(
    "unauthenticated",
    `Send a live session token in X-${word}-Auth or an API key in X-${word}-Api-Key.`,
  );

const identifyUser = async function* identifyUser(
  needs: RequestNeeds,
  { request, now, params }: RequestContext,
): AsyncGenerator<Found, Principal> {
  const token = getPlatformHeader(needs, request, "auth");
  const key = getPlatformHeader(needs, request, "api-key");
  if (token === undefined && key === undefined) throw createMissingCredential(needs);
  const person = await needs.authenticate.gateway({ token, key, now });
  // A request that the path's tenant refuses is audited in the caller's home tenant.
  const atHome = { ...person, may: NO_PERMISSIONS };
  yield { tenantId: person.homeTenantId, caller: atHome };
  yield { rateLimitHeaders: await needs.limiter.gateway(person.id, now) };
  const tenantId = params["tenantId"];
  if (tenantId === undefined) return atHome;
  const caller = await person.enter(tenantId);
  yield { caller, tenantId };
  return caller;
};

/**
 * Authenticates, rate-limits and authorizes the request. Yields what each step finds out, so that a refusal knows it.
 *
 * @throws {Problem} where a step refuses the request
 */
const identify = async function* identify(
  needs: RequestNeeds,
  context: RequestContext,
): AsyncGenerator<Found, void> {
  const { operation } = context;
  const { access, service } = operation;
  if (access === "public") {
    yield* identifyVisitor(needs, context);
    return;
  }
  const identified =
    service === "gateway"
      ? identifyUser(needs, context)
      : admitKeyHolder(
          needs,
          context,
          service,
          await needs.authenticate.exportKey(exportKeyIn(context)),
        );
  authorize(operation, yield* identified);
};

/** Validates the input and the Idempotency-Key. @throws {Problem} naming each fault. */
const parseInput = (context: RequestContext): { input: ValidInput; terms: Terms } => {
  const { operation, request, params, sentBody } = context;
  const target = parseTarget(operation, params, context.url);
  const body =
    operation.raw === null ? parseInputBody(operation, sentBody) : openBody(operation.raw, request);
  const isListed = !operation.lateValidation && operation.raw === null;
  const keyed = keyOf(operation, findHeader(request, "idempotency-key") ?? null, {
    tenantId: context.tenantId,
    principal: context.caller?.id ?? "",
    params,
    body,
    now: context.now,
  });
  const ignored = isListed ? listIgnoredFields(sentBody, body) : [];
  return { input: { ...target, body }, terms: { ignored, keyed } };
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
  entry: AuditOnce,
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
    await entry.write(context, { status: response.status, facts, rowCount });
    createDone(needs, context, response)(bytes);
    return response;
  }
  try {
    await entry.write(context, { status, facts, createdId, rowCount });
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

/** Builds the reply to a repeated request from the stored answer to the first one. */
const toReplay = (
  { operation }: RequestContext,
  { output, headers, recordId }: StoredAnswer,
): Reply => ({
  status: operation.status,
  headers: { ...headers, "Idempotency-Replayed": "true" },
  body: output,
  createdId: recordId,
  audit: {},
});

/** Acts once for each Idempotency-Key. */
const actOnce = async (
  { idempotency, store }: RequestNeeds,
  context: RequestContext,
  keyed: Keyed,
  act: () => Promise<Result<unknown>>,
): Promise<Result<unknown> | { replay: Reply }> => {
  const stored = await idempotency.find(store.read, keyed);
  if (stored !== undefined) return { replay: toReplay(context, stored) };
  try {
    return await idempotency.once(keyed, act);
  } catch (error) {
    if (!(error instanceof AlreadyDone)) throw error;
    const first = await idempotency.find(store.read, keyed);
    if (first === undefined) throw error;
    return { replay: toReplay(context, first) };
  }
};

/** Runs the handler without its change, and answers as if it had no body. A refusal is that of the change. */
const rehearse = async (
  { idempotency, store }: RequestNeeds,
  { keyed }: Terms,
  run: () => Promise<Result<unknown>>,
): Promise<Reply> => {
  const stored = keyed && (await idempotency.find(store.read, keyed));
  try {
    if (stored === undefined) await run();
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
  }
  return { status: 204, headers: {}, body: null, audit: {} };
};

/** Lets the handler act on a valid request, and returns its reply. */
const act = async (
  needs: RequestNeeds,
  context: RequestContext,
  { input, terms }: { input: ValidInput; terms: Terms },
  { handler, entry }: { handler: Handler; entry: AuditOnce },
): Promise<Reply> => {
  const run = () => handler(input, createCall(needs, context, terms, entry.isWritten));
  if (context.dryRun) return rehearse(needs, terms, run);
  const { keyed } = terms;
  const result = keyed === undefined ? await run() : await actOnce(needs, context, keyed, run);
  return "replay" in result ? result.replay : toReply(context, terms, result);
};

/** Records a refusal. Returns the refusal, or the failure to record it, which is then the answer. */
const recordRefusal = async (
  needs: RequestNeeds,
  context: RequestContext,
  entry: AuditOnce,
  problem: Problem,
): Promise<Problem> => {
  try {
    const facts = problem.details.audit ?? {};
    const always = problem.code === "invalid_credentials";
    await entry.write(context, { status: problem.status, facts, always });
    return problem;
  } catch (failure) {
    // Another answer than for an unknown address would tell that this one is known.
    const isSecret = problem.code === "invalid_credentials" && failure instanceof TenantPaused;
    return isSecret || problem.code === "unavailable"
      ? problem
      : toProblem(failure, needs.log, context.requestId);
  }
};

const refuse = async (
  needs: RequestNeeds,
  context: RequestContext,
  entry: AuditOnce,
  error: unknown,
): Promise<Response> => {
  const found = await limitFailures(needs, context, toProblem(error, needs.log, context.requestId));
  const problem = await recordRefusal(needs, context, entry, found);
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

const perform = async (
  needs: RequestNeeds,
  arrived: RequestContext,
  handler: Handler,
): Promise<Response> => {
  const entry = createAuditOnce(needs);
  let context = arrived;
  try {
    for await (const found of identify(needs, arrived)) context = { ...context, ...found };
    const { operation, request, incoming, dryRun } = context;
    if (dryRun) entry.isWritten();
    context = { ...context, sentBody: await readBody(operation, request, incoming) };
    const valid = parseInput(context);
    context = { ...context, input: valid.input };
    const reply = await act(needs, context, valid, { handler, entry });
    return await respond(needs, context, entry, reply);
  } catch (error) {
    return refuse(needs, context, entry, error);
  }
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
      const response = await perform(needs, context, handler);
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
