import { buildHeaderRefs } from "./headers.ts";

export const SERVICE_TAG = "service";

const buildAnswer = (description: string, types: Record<string, object>): object => ({
  description,
  headers: buildHeaderRefs(["X-Request-Id"]),
  content: Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }])),
});

const textSchema = { type: "string" };
const healthSchema = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["ok", "unavailable"] },
    idempotency: {
      type: "boolean",
      description: "Whether the platform supports `Idempotency-Key`.",
    },
  },
  required: ["status"],
};

const notFound = { $ref: "#/components/responses/gateway-404-not_found" };

const buildRoute = (operationId: string, summary: string, rest: object): object => ({
  get: {
    operationId,
    tags: [SERVICE_TAG],
    summary,
    description: "Requires no credential.",
    security: [],
    ...rest,
  },
});

/** Routes about the service itself, which are not operations of the contract. */
export const serviceRoutes: Record<string, object> = {
  "/health": buildRoute(
    "service.health",
    "Check whether the service and its database are available.",
    {
      responses: {
        200: buildAnswer("The service is available.", { "application/json": healthSchema }),
        503: buildAnswer("The database is unavailable.", { "application/json": healthSchema }),
      },
    },
  ),
  "/openapi.json": buildRoute("service.openapi", "Get this OpenAPI document.", {
    responses: {
      200: buildAnswer("The OpenAPI document.", { "application/json": { type: "object" } }),
    },
  }),
  "/docs": buildRoute("service.docs", "Browse this document as an HTML page.", {
    responses: { 200: buildAnswer("HTML page.", { "text/html": textSchema }) },
  }),
  "/docs/{file}": buildRoute("service.docs_file", "Get a script or style sheet of the HTML page.", {
    parameters: [{ name: "file", in: "path", required: true, schema: { type: "string" } }],
    responses: {
      200: buildAnswer("The file.", { "text/javascript": textSchema, "text/css": textSchema }),
      404: notFound,
    },
  }),
};
