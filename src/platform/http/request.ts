import type { IncomingMessage } from "node:http";
import {
  Problem,
  type Fault,
  type ProblemDetails,
  type SharedCode,
} from "../../contract/errors.ts";
import { sentence } from "../../contract/faults.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Call, Principal } from "../handlers.ts";
import type { Db, Store } from "../store/port.ts";
import { answer, isListing } from "./answer.ts";
import { type Audit, entryOf, toolOf } from "./audit.ts";
import { type Authenticate, authorize } from "./authenticate.ts";
import { parseInputBody, parseTarget, readBody } from "./input.ts";
import { problemResponse, toProblem } from "./problem.ts";

export type RequestNeeds = {
  store: Store;
  clock: Clock;
  newId: NewId;
  log: Log;
  audit: Audit;
  authenticate: Authenticate;
  /** The word in the header names, such as Platform. */
  headerWord: string;
};

type Untyped = (input: unknown, call: Call) => Promise<unknown>;

/** What is learnt of one request on its way through. */
type Story = {
  operation: Operation;
  request: Request;
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
  was: unknown;
  logged: boolean;
  headers: Record<string, string>;
};

const LOOPBACK = "127.0.0.1";

const ipOf = (incoming: IncomingMessage | undefined): string =>
  incoming?.socket.remoteAddress ?? LOOPBACK;

/** Serves operations: each step is one act, each refusal a Problem. */
export const createRequests = (needs: RequestNeeds) => {
  const { store, clock, newId, log, audit, authenticate, headerWord } = needs;
  const header = (request: Request, name: string): string | undefined =>
    request.headers.get(`x-${headerWord}-${name}`) ?? undefined;

  const begin = (
    operation: Operation,
    request: Request,
    params: Record<string, string>,
    incoming: IncomingMessage | undefined,
  ): Story => ({
    operation,
    request,
    requestId: request.headers.get("x-request-id") ?? newId(),
    url: new URL(request.url),
    now: clock(),
    ip: ipOf(incoming),
    tool: toolOf(header(request, "mcp-tool")),
    origin: header(request, "client") === "mcp" ? "mcp" : "api",
    params,
    caller: null,
    tenantId: "",
    body: undefined,
    was: undefined,
    logged: false,
    headers: {},
  });

  const identify = async (story: Story): Promise<void> => {
    const { operation, request } = story;
    if (operation.access === "public") return;
    if (operation.service === "export") {
      const caller = await authenticate.exportKey(request.headers.get("x-api-key") ?? undefined);
      story.caller = caller;
      story.tenantId = caller.tenantId;
    } else {
      const identity = await authenticate.gateway({
        token: header(request, "auth"),
        key: header(request, "api-key"),
        now: story.now,
      });
      // Until it is let into the path's tenant, a request belongs to its sender's own log.
      story.tenantId = identity.homeTenantId;
      story.caller = { ...identity, may: new Set() };
      const wanted = story.params["tenantId"];
      if (wanted !== undefined) {
        story.caller = await authenticate.enter(identity, wanted);
        story.tenantId = wanted;
      }
    }
    authorize(operation, story.caller);
  };

  // The gateway's log holds what came through the MCP server; the export service's, every request.
  const isLogged = (story: Story): boolean =>
    story.tenantId !== "" && (story.operation.service === "export" || story.tool !== undefined);

  const entry = (story: Story, status: number, rowCount?: number) =>
    entryOf(
      story.operation,
      {
        tenantId: story.tenantId,
        at: story.now,
        method: story.request.method,
        tool: story.tool,
        userId:
          story.caller === null || story.caller.via === "export-key" ? undefined : story.caller.id,
        params: story.params,
        outcome: { status, body: story.body, was: story.was },
        rowCount,
      },
      newId,
    );

  const change = async <T>(story: Story, act: (tx: Db) => Promise<T>): Promise<T> => {
    const result = await store.transaction(async (tx) => {
      const made = await act(tx);
      if (isLogged(story)) await audit.append(tx, entry(story, story.operation.status));
      return made;
    }, story.tenantId);
    story.logged = isLogged(story);
    return result;
  };

  const checkVersion = (story: Story, record: { id: string; version: number }): void => {
    const etag = `"${record.id}.${record.version}"`;
    const wanted = story.request.headers.get("if-match");
    const first = story.headers["ETag"] === undefined;
    const { effect } = story.operation;
    story.headers["ETag"] = etag;
    if (effect !== "change" || !first || wanted === null || wanted.trim() === "*") return;
    if (wanted.split(",").some((tag) => tag.trim() === etag)) return;
    throw new Problem(
      "precondition_failed",
      "The record has changed since it was read. Read it again.",
    );
  };

  const callOf = (story: Story): Call => ({
    caller: story.caller as Principal,
    tenantId: story.tenantId,
    requestId: story.requestId,
    now: story.now,
    ip: story.ip,
    origin: story.origin,
    signal: story.request.signal,
    db: store.read,
    snapshot: () => store.snapshot(),
    change: (act) => change(story, act),
    fail(code: SharedCode, message: string, details: ProblemDetails = {}) {
      throw new Problem(code, message, details);
    },
    refuse(field: string, code: Fault["code"], message: string) {
      const errors = [{ field, code, message }];
      throw new Problem("invalid_request", sentence(errors), { errors });
    },
    was(value) {
      story.was = value;
    },
    attribute(tenantId) {
      story.tenantId = tenantId;
    },
    version: (record) => checkVersion(story, record),
  });

  const perform = async (
    story: Story,
    handler: Untyped,
    incoming: IncomingMessage | undefined,
  ): Promise<Response> => {
    await identify(story);
    story.body = await readBody(story.operation, story.request, incoming);
    const target = parseTarget(story.operation, story.params, story.url.searchParams);
    const body = parseInputBody(story.operation, story.body);
    story.body = body;
    const output = await handler({ ...target, body }, callOf(story));
    await tell(story, story.operation.status, rowsOf(output));
    return answer(story.request, story.operation.status, output, story.url, story.headers);
  };

  const tell = async (story: Story, status: number, rowCount?: number): Promise<void> => {
    if (story.logged || !isLogged(story)) return;
    story.logged = true;
    await audit.record(entry(story, status, rowCount));
  };

  const refused = async (story: Story, error: unknown): Promise<Response> => {
    const problem = toProblem(error, log, story.requestId);
    try {
      if (problem.status !== 401) await tell(story, problem.status);
    } catch (failure) {
      toProblem(failure, log, story.requestId);
    }
    return problemResponse(problem, story.operation.service, {
      requestId: story.requestId,
      path: story.url.pathname,
    });
  };

  return {
    /** The way of every request to one operation. */
    serve:
      (operation: Operation, handler: Untyped) =>
      async (
        request: Request,
        params: Record<string, string>,
        incoming: IncomingMessage | undefined,
      ): Promise<Response> => {
        const story = begin(operation, request, params, incoming);
        try {
          return await perform(story, handler, incoming);
        } catch (error) {
          return refused(story, error);
        }
      },
  };
};

const rowsOf = (output: unknown): number | undefined => {
  if (Array.isArray(output)) return output.length;
  if (isListing(output)) return output.page === undefined ? output.total : undefined;
  if (typeof output !== "object" || output === null || !("data" in output)) return undefined;
  return Array.isArray(output.data) ? output.data.length : undefined;
};
