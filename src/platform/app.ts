import type { IncomingMessage } from "node:http";
import { Hono } from "hono";
import { contract } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";
import { createRequests } from "./http/request.ts";
import type { RequestNeeds } from "./http/story.ts";
import { problemResponse } from "./http/problem.ts";
import type { Services } from "./handlers.ts";

type Route = { method: string; path: string; operation: Operation; handler: unknown };
type Env = { Bindings: { incoming?: IncomingMessage } };

const routesOf = (services: Services): Route[] =>
  Object.entries(contract).flatMap(([noun, verbs]) =>
    Object.entries(verbs).flatMap(([verb, declared]) => {
      const operation: Operation = declared;
      const handler: unknown = (services[noun as keyof Services] as Record<string, unknown>)[verb];
      return [operation, ...operation.also].map(({ method, path }) => ({
        method,
        path,
        operation,
        handler,
      }));
    }),
  );

// Literal segments before parameters, so that a fixed word is never taken for an id.
const specificFirst = (a: string, b: string): number =>
  a.replaceAll("{", "\uffff") < b.replaceAll("{", "\uffff") ? -1 : 1;

const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};

const REQUEST_ID = /^[A-Za-z0-9_-]{1,128}$/;

const serviceAt = (path: string) =>
  path.startsWith("/api/v1/remittance-export") ? "export" : "gateway";

/** The platform's HTTP face: a route for each operation of the contract. */
export const createApp = (services: Services, needs: RequestNeeds) => {
  const app = new Hono<Env>();
  const requests = createRequests(needs);

  app.use(async (context, next) => {
    const sent = context.req.header("x-request-id");
    const requestId = sent !== undefined && REQUEST_ID.test(sent) ? sent : needs.newId();
    context.req.raw.headers.set("x-request-id", requestId);
    await next();
    context.res.headers.set("X-Request-Id", requestId);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  });

  app.get("/health", async (context) => {
    try {
      await needs.store.ping();
      return context.json({ status: "ok", idempotency: true });
    } catch {
      return context.json({ status: "unavailable" }, 503);
    }
  });

  const byPath = Map.groupBy(routesOf(services), (route) => route.path);
  for (const path of [...byPath.keys()].sort(specificFirst)) {
    const routes = byPath.get(path) ?? [];
    const pattern = path.replace(/\{(\w+)\}/g, ":$1");
    for (const { method, operation, handler } of routes) {
      const serve = requests.serve(operation, handler as never);
      app.on(method, pattern, (context) =>
        serve(context.req.raw, context.req.param(), context.env?.incoming),
      );
    }
    const allowed = routes.map((route) => route.method).join(", ");
    app.all(pattern, (context) =>
      problemResponse(
        new Problem("method_not_allowed", `This path takes ${allowed}.`, {
          headers: { Allow: allowed },
        }),
        serviceAt(path),
        { requestId: context.req.header("x-request-id") ?? "", path: context.req.path },
      ),
    );
  }

  app.notFound((context) =>
    problemResponse(
      new Problem("not_found", "There is no such path."),
      serviceAt(context.req.path),
      { requestId: context.req.header("x-request-id") ?? "", path: context.req.path },
    ),
  );
  return app;
};
