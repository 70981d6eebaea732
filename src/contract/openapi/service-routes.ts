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
    idempotency: { type: "boolean", description: "whether `Idempotency-Key` is honoured" },
  },
  required: ["status"],
};

const notFound = { $ref: "#/components/responses/gateway-404-not_found" };

const buildRoute = (operationId: string, summary: string, rest: object): object => ({
  get: {
    operationId,
    tags: [SERVICE_TAG],
    summary,
    description: "Needs no credential.",
    security: [],
    ...rest,
  },
});

/** Routes that no operation of the contract stands behind: the service about itself. */
export const serviceRoutes: Record<string, object> = {
  "/health": buildRoute("service.health", "Tell whether the service and its store are up.", {
    responses: {
      200: buildAnswer("It is up.", { "application/json": healthSchema }),
      503: buildAnswer("The store does not answer.", { "application/json": healthSchema }),
    },
  }),
  "/openapi.json": buildRoute("service.openapi", "Read this document.", {
    responses: { 200: buildAnswer("The document.", { "application/json": { type: "object" } }) },
  }),
  "/docs": buildRoute("service.docs", "Show this document to a person.", {
    responses: { 200: buildAnswer("A page.", { "text/html": textSchema }) },
  }),
  "/docs/{file}": buildRoute("service.docs_file", "Read a file of that page.", {
    parameters: [{ name: "file", in: "path", required: true, schema: { type: "string" } }],
    responses: {
      200: buildAnswer("The file.", { "text/javascript": textSchema, "text/css": textSchema }),
      404: notFound,
    },
  }),
};
