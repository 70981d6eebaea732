import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { DRY_RUN, hasDryRun, toDryRun } from "../contract/dry-run.ts";
import { extensions, platformContract } from "../contract/index.ts";
import type { Operation, Service } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";
import { type Readiness, readyAnswer } from "../kit/readiness.ts";
import { NO_ROUTE } from "../kit/telemetry.ts";
import { createAccountPages } from "./http/account-pages.ts";
import { createDocuments } from "./http/documents.ts";
import { buildProblemResponse, toProblem } from "./http/problem.ts";
import { withSecurityHeaders, requestIdOf } from "./http/headers.ts";
import { transferRoutes } from "./http/transfers.ts";
import { createServe, createCut } from "./http/request.ts";
import type { RequestNeeds } from "./http/context.ts";
import { limitFailures } from "./http/throttle.ts";
import type { Services } from "./handlers.ts";
import { asksForPage, noSuchPage } from "../pages/other-host.ts";
import { type Brand, createPageResponse } from "../pages/page.ts";
import type { Passwords } from "./services/passwords.ts";
import type { Transfers } from "./services/dispute-attachments/transfers.ts";

type Env = { Bindings: { incoming?: IncomingMessage } };

const listRoutes = (services: Services) =>
  Object.entries(platformContract).flatMap(([noun, verbs]) =>
    Object.entries(verbs).flatMap(([verb, declared]) => {
      const operation: Operation = declared;
      const handler: unknown = (services[noun as keyof Services] as Record<string, unknown>)[verb];
      const routes = [operation, ...operation.aliases].map(({ method, path }) => ({
        method,
        path,
        operation,
        handler,
        dryRun: false,
      }));
      if (!hasDryRun(operation)) return routes;
      const { path } = toDryRun(operation);
      return [...routes, { method: operation.method, path, operation, handler, dryRun: true }];
    }),
  );

// Sorts literal segments before parameters, so that a literal is never matched as an id.
const compareSpecificity = (a: string, b: string): number =>
  a.replaceAll("{", "\uffff") < b.replaceAll("{", "\uffff") ? -1 : 1;

/** Returns whether a request for `path` also reaches the route `route`. */
const reaches = (path: string, route: string): boolean => {
  const parts = path.split("/");
  const names = route.split("/");
  return (
    names.length === parts.length &&
    names.every((name, index) => name.startsWith("{") || name === parts[index])
  );
};

const BASES: [base: string, service: Service][] = [
  ["/api/v1/remittance-export", "export"],
  ["/api/v1/ingest", "ingest"],
  ["/api/v1/pdf-ingestion", "ingest"],
];

const findService = (path: string): Service =>
  BASES.find(([base]) => path.replace(DRY_RUN.path, "").startsWith(base))?.[1] ?? "gateway";

const toPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

/** A request to a route that is no operation of the contract. */
type OwnRequest = { raw: Request; path: string; route: string; requestId: string; began: number };

const openRequest = (
  { newId }: Pick<AppNeeds, "newId">,
  { req }: Context,
  route: string,
): OwnRequest => ({
  raw: req.raw,
  path: req.path,
  route,
  requestId: requestIdOf(req.raw, newId),
  began: performance.now(),
});

/** Creates the function that reports a request when its answer is complete. */
const createDone =
  (
    { report }: Pick<AppNeeds, "report">,
    { raw, route, requestId, began }: OwnRequest,
    { status, code }: { status: number; code?: string },
  ): ((bytes: number) => void) =>
  (bytes) => {
    const ms = performance.now() - began;
    report({ server: "platform", requestId, method: raw.method, route, status, ms, bytes, code });
  };

/** Creates the function that refuses requests to no operation. */
const createRefuse =
  (needs: Pick<AppNeeds, "report">) =>
  (request: OwnRequest, problem: Problem): Response =>
    buildProblemResponse(
      problem,
      findService(request.path),
      request,
      createDone(needs, request, problem),
    );

/**
 * Answers the methods that a path does not support with 405. Call it after the path's own routes.
 * `elsewhere` are methods that the path has as the path of a record; later routes serve them.
 */
const refuseOthers = (
  app: Hono<Env>,
  needs: AppNeeds,
  path: string,
  methods: readonly string[],
  elsewhere: readonly string[] = [],
): void => {
  const allowed = [...new Set([...methods, ...elsewhere])].join(", ");
  const refuse = createRefuse(needs);
  app.all(toPattern(path), (context, next) => {
    const { method } = context.req;
    if (elsewhere.includes(method === "HEAD" ? "GET" : method)) return next();
    return refuse(
      openRequest(needs, context, path),
      new Problem("method_not_allowed", `This path takes ${allowed}.`, {
        headers: { Allow: allowed },
      }),
    );
  });
};

/** Mounts the public routes of the service itself: health, readiness, API document. */
const mountOwn = (app: Hono<Env>, needs: AppNeeds): void => {
  const mount = (path: string, serve: (context: Context) => Promise<Response>): void => {
    app.get(toPattern(path), async (context) => {
      const request = openRequest(needs, context, path);
      const response = await serve(context);
      const { byteLength } = await response.clone().arrayBuffer();
      createDone(needs, request, response)(byteLength);
      return withSecurityHeaders(response, request.requestId);
    });
    refuseOthers(app, needs, path, ["GET"]);
  };
  mount("/health", async (context) =>
    context.json({ status: "ok", idempotency: true, extensions }),
  );
  mount("/ready", async (context) => {
    const { status, body } = readyAnswer(await needs.ready());
    return context.json(body, status);
  });
  for (const { path, serve } of createDocuments(needs)) {
    mount(
      path,
      async (context) =>
        (await serve(context.req.raw, context.req.param("file"))) ?? context.notFound(),
    );
  }
};

/** Mounts the routes for signed URLs. A refused body is left unread, so the connection is closed. */
const mountTransfers = (app: Hono<Env>, needs: AppNeeds): void => {
  const refuse = createRefuse(needs);
  for (const { method, path, serve } of transferRoutes(needs.transfers)) {
    app.on(method, toPattern(path), async (context) => {
      const request = openRequest(needs, context, path);
      const { requestId } = request;
      try {
        const { uploadId, attachmentId } = context.req.param() as Record<string, string>;
        const done = createDone(needs, request, { status: method === "PUT" ? 204 : 200 });
        const id = uploadId ?? attachmentId ?? "";
        const { incoming } = context.env ?? {};
        const cut = createCut(needs, { incoming, request: context.req.raw, requestId });
        return await serve(context.req.raw, id, { requestId, done, ...cut });
      } catch (error) {
        const visitor = {
          ip: needs.addressOf(context.env?.incoming),
          now: needs.clock(),
          requestId,
        };
        const found = toProblem(error, needs.log, requestId);
        const response = refuse(request, await limitFailures(needs, visitor, found));
        response.headers.set("Connection", "close");
        return response;
      }
    });
    refuseOthers(app, needs, path, [method]);
  }
};

/** Mounts the pages on which people set their passwords. */
const mountPages = (app: Hono<Env>, needs: AppNeeds): void => {
  const refuse = createRefuse(needs);
  for (const { path, serve } of createAccountPages(needs.passwords, needs.brand)) {
    app.on(["GET", "POST"], toPattern(path), async (context) => {
      const own = openRequest(needs, context, path);
      const { raw: request, requestId } = own;
      const visitor = { ip: needs.addressOf(context.env?.incoming), now: needs.clock() };
      try {
        const token = context.req.param("token") ?? "";
        const response = await serve({ request, requestId, token, ...visitor });
        const { byteLength } = await response.clone().arrayBuffer();
        createDone(needs, own, response)(byteLength);
        return withSecurityHeaders(response, requestId);
      } catch (error) {
        const response = refuse(own, toProblem(error, needs.log, requestId));
        response.headers.set("Connection", "close");
        return response;
      }
    });
    refuseOthers(app, needs, path, ["GET", "POST"]);
  }
};

export type AppNeeds = RequestNeeds & {
  /** Program version for the API document. */
  version: string;
  transfers: Transfers;
  passwords: Passwords;
  brand: Brand | undefined;
  /** Whether the page for people is served at `/` of the same address. */
  hasPage: boolean;
  /** Checks everything that requests need. */
  ready: () => Promise<Readiness>;
};

/** Creates the HTTP application: a route for each operation of the contract. */
export const createApp = (services: Services, needs: AppNeeds) => {
  // The path as it is sent: `/dry%2Drun` is no other spelling of `/dry-run`. Parameters are decoded one by one.
  const app = new Hono<Env>({ getPath: ({ url }) => new URL(url).pathname });

  const refuse = createRefuse(needs);
  mountOwn(app, needs);
  mountTransfers(app, needs);
  mountPages(app, needs);

  const byPath = Map.groupBy(listRoutes(services), (route) => route.path);
  /** Methods of `path` as the path of a record that callers name, such as a document with the number `summary`. */
  const methodsOfRecord = (path: string): string[] =>
    [...byPath].flatMap(([route, own]) =>
      route !== path && own.some(({ operation }) => operation.upsert) && reaches(path, route)
        ? own.map(({ method }) => method)
        : [],
    );
  for (const path of [...byPath.keys()].toSorted(compareSpecificity)) {
    const routes = byPath.get(path) ?? [];
    for (const { method, operation, handler, dryRun } of routes) {
      const serve = createServe(needs, { operation, route: path, dryRun }, handler as never);
      app.on(method, toPattern(path), (context) =>
        serve(context.req.raw, context.req.param(), context.env?.incoming),
      );
    }
    const methods = routes.map(({ method }) => method);
    refuseOthers(app, needs, path, methods, methodsOfRecord(path));
  }

  app.notFound((context) => {
    const request = openRequest(needs, context, NO_ROUTE);
    const hint = needs.hasPage ? " Assistants connect to /mcp." : "";
    const message = `There is no such path; /docs shows those that there are.${hint}`;
    const refusal = refuse(request, new Problem("not_found", message));
    const { raw, method, path } = context.req;
    if (!asksForPage(method, raw.headers.get("accept"))) return refusal;
    return withSecurityHeaders(createPageResponse(noSuchPage(path)), request.requestId);
  });
  app.onError((error, context) => {
    const request = openRequest(needs, context, NO_ROUTE);
    return refuse(request, toProblem(error, needs.log, request.requestId));
  });
  return app;
};
