import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { platformContract } from "../contract/index.ts";
import type { Operation, Service } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";
import { type Readiness, readyAnswer } from "../kit/readiness.ts";
import { documents } from "./http/documents.ts";
import { problemResponse, toProblem } from "./http/problem.ts";
import { withSecurityHeaders, requestIdOf } from "./http/headers.ts";
import { transferRoutes } from "./http/transfers.ts";
import { createServe } from "./http/request.ts";
import type { RequestNeeds } from "./http/context.ts";
import { limitFailures } from "./http/throttle.ts";
import type { Services } from "./handlers.ts";
import type { Transfers } from "./services/dispute-attachments/transfers.ts";

type Route = { method: string; path: string; operation: Operation; handler: unknown };
type Env = { Bindings: { incoming?: IncomingMessage } };

const routesOf = (services: Services): Route[] =>
  Object.entries(platformContract).flatMap(([noun, verbs]) =>
    Object.entries(verbs).flatMap(([verb, declared]) => {
      const operation: Operation = declared;
      const handler: unknown = (services[noun as keyof Services] as Record<string, unknown>)[verb];
      return [operation, ...operation.aliases].map(({ method, path }) => ({
        method,
        path,
        operation,
        handler,
      }));
    }),
  );

// Sorts literal segments before parameters, so that a literal is never matched as an id.
const specificFirst = (a: string, b: string): number =>
  a.replaceAll("{", "\uffff") < b.replaceAll("{", "\uffff") ? -1 : 1;

const BASES: [base: string, service: Service][] = [
  ["/api/v1/remittance-export", "export"],
  ["/api/v1/ingest", "ingest"],
  ["/api/v1/pdf-ingestion", "ingest"],
];

const serviceAt = (path: string): Service =>
  BASES.find(([base]) => path.startsWith(base))?.[1] ?? "gateway";

const patternOf = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

/** Creates the function that answers requests to no operation. */
const createRefuse =
  ({ newId }: Pick<AppNeeds, "newId">) =>
  ({ req }: Context, problem: Problem, requestId = requestIdOf(req.raw, newId)): Response =>
    problemResponse(problem, serviceAt(req.path), { requestId, path: req.path });
type Refuse = ReturnType<typeof createRefuse>;

/** Answers the methods that a path does not support with 405. Call it after the path's own routes. */
const refuseOthers = (
  app: Hono<Env>,
  refuse: Refuse,
  path: string,
  methods: readonly string[],
): void => {
  const allowed = methods.join(", ");
  app.all(patternOf(path), (context) =>
    refuse(
      context,
      new Problem("method_not_allowed", `This path takes ${allowed}.`, {
        headers: { Allow: allowed },
      }),
    ),
  );
};

/** Mounts the public routes of the service itself: health, readiness, API document. */
const mountOwn = (app: Hono<Env>, refuse: Refuse, needs: AppNeeds): void => {
  const mount = (path: string, serve: (context: Context) => Promise<Response>): void => {
    app.get(patternOf(path), async (context) =>
      withSecurityHeaders(await serve(context), requestIdOf(context.req.raw, needs.newId)),
    );
    refuseOthers(app, refuse, path, ["GET"]);
  };
  mount("/health", async (context) => context.json({ status: "ok", idempotency: true }));
  mount("/ready", async (context) => {
    const { status, body } = readyAnswer(await needs.ready());
    return context.json(body, status);
  });
  for (const { path, serve } of documents(needs)) {
    mount(
      path,
      async (context) =>
        (await serve(context.req.raw, context.req.param("file"))) ?? context.notFound(),
    );
  }
};

/** Mounts the routes for signed URLs. A refused body is left unread, so the connection is closed. */
const mountTransfers = (app: Hono<Env>, refuse: Refuse, needs: AppNeeds): void => {
  for (const { method, path, serve } of transferRoutes(needs.transfers)) {
    app.on(method, patternOf(path), async (context) => {
      const requestId = requestIdOf(context.req.raw, needs.newId);
      try {
        const { uploadId, attachmentId } = context.req.param() as Record<string, string>;
        return await serve(context.req.raw, uploadId ?? attachmentId ?? "", requestId);
      } catch (error) {
        const asked = {
          ip: needs.addressOf(context.env?.incoming),
          now: needs.clock(),
          requestId,
        };
        const found = toProblem(error, needs.log, requestId);
        const response = refuse(context, await limitFailures(needs, asked, found), requestId);
        response.headers.set("Connection", "close");
        return response;
      }
    });
    refuseOthers(app, refuse, path, [method]);
  }
};

export type AppNeeds = RequestNeeds & {
  /** Program version for the API document. */
  version: string;
  transfers: Transfers;
  /** Checks everything that requests need. */
  ready: () => Promise<Readiness>;
};

/** Creates the HTTP application: a route for each operation of the contract. */
export const createApp = (services: Services, needs: AppNeeds) => {
  const app = new Hono<Env>();

  const refuse = createRefuse(needs);
  mountOwn(app, refuse, needs);
  mountTransfers(app, refuse, needs);

  const byPath = Map.groupBy(routesOf(services), (route) => route.path);
  for (const path of [...byPath.keys()].toSorted(specificFirst)) {
    const routes = byPath.get(path) ?? [];
    for (const { method, operation, handler } of routes) {
      const serve = createServe(needs, operation, handler as never);
      app.on(method, patternOf(path), (context) =>
        serve(context.req.raw, context.req.param(), context.env?.incoming),
      );
    }
    refuseOthers(
      app,
      refuse,
      path,
      routes.map((route) => route.method),
    );
  }

  app.notFound((context) =>
    refuse(
      context,
      new Problem("not_found", "There is no such path; /docs shows those that there are."),
    ),
  );
  app.onError((error, context) => {
    const requestId = requestIdOf(context.req.raw, needs.newId);
    return refuse(context, toProblem(error, needs.log, requestId), requestId);
  });
  return app;
};
