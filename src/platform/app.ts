import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { contract } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";
import { documents } from "./http/documents.ts";
import { problemResponse, toProblem } from "./http/problem.ts";
import { createRequests } from "./http/request.ts";
import type { RequestNeeds } from "./http/story.ts";
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

const patternOf = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

const refusal = ({ req }: Context, problem: Problem): Response =>
  problemResponse(problem, serviceAt(req.path), {
    requestId: req.header("x-request-id") ?? "",
    path: req.path,
  });

/** Whatever method a path does not take. Its routes must be there already. */
const refuseOthers = (app: Hono<Env>, path: string, methods: readonly string[]): void => {
  const allowed = methods.join(", ");
  app.all(patternOf(path), (context) =>
    refusal(
      context,
      new Problem("method_not_allowed", `This path takes ${allowed}.`, {
        headers: { Allow: allowed },
      }),
    ),
  );
};

/** What the service says of itself, to anybody. */
const mountOwn = (app: Hono<Env>, needs: AppNeeds): void => {
  app.get("/health", async (context) => {
    try {
      await needs.store.ping();
      return context.json({ status: "ok", idempotency: true });
    } catch {
      return context.json({ status: "unavailable" }, 503);
    }
  });
  refuseOthers(app, "/health", ["GET"]);
  for (const { path, serve } of documents(needs)) {
    app.get(
      patternOf(path),
      async (context) =>
        (await serve(context.req.raw, context.req.param("file"))) ?? context.notFound(),
    );
    refuseOthers(app, path, ["GET"]);
  }
};

export type AppNeeds = RequestNeeds & {
  /** The program's own, for the API document. */
  version: string;
};

/** The platform's HTTP face: a route for each operation of the contract. */
export const createApp = (services: Services, needs: AppNeeds) => {
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

  mountOwn(app, needs);

  const byPath = Map.groupBy(routesOf(services), (route) => route.path);
  for (const path of [...byPath.keys()].toSorted(specificFirst)) {
    const routes = byPath.get(path) ?? [];
    for (const { method, operation, handler } of routes) {
      const serve = requests.serve(operation, handler as never);
      app.on(method, patternOf(path), (context) =>
        serve(context.req.raw, context.req.param(), context.env?.incoming),
      );
    }
    refuseOthers(
      app,
      path,
      routes.map((route) => route.method),
    );
  }

  app.notFound((context) => refusal(context, new Problem("not_found", "There is no such path.")));
  app.onError((error, context) =>
    refusal(context, toProblem(error, needs.log, context.req.header("x-request-id") ?? "")),
  );
  return app;
};
