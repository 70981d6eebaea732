import { headerRefs } from "./headers.ts";

export const OWN_TAG = "service";

const answer = (description: string, types: Record<string, object>): object => ({
  description,
  headers: headerRefs(["X-Request-Id"]),
  content: Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }])),
});

const page = { type: "string" };
const health = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["ok", "unavailable"] },
    idempotency: { type: "boolean", description: "whether `Idempotency-Key` is honoured" },
  },
  required: ["status"],
};

const missing = { $ref: "#/components/responses/gateway-404-not_found" };

const route = (operationId: string, summary: string, rest: object): object => ({
  get: {
    operationId,
    tags: [OWN_TAG],
    summary,
    description: "Needs no credential.",
    security: [],
    ...rest,
  },
});

/** Routes that no operation of the contract stands behind: the service about itself. */
export const ownRoutes: Record<string, object> = {
  "/health": route("service.health", "Tell whether the service and its store are up.", {
    responses: {
      200: answer("It is up.", { "application/json": health }),
      503: answer("The store does not answer.", { "application/json": health }),
    },
  }),
  "/openapi.json": route("service.openapi", "Read this document.", {
    responses: { 200: answer("The document.", { "application/json": { type: "object" } }) },
  }),
  "/docs": route("service.docs", "Show this document to a person.", {
    responses: { 200: answer("A page.", { "text/html": page }) },
  }),
  "/docs/{file}": route("service.docs_file", "Read a file of that page.", {
    parameters: [{ name: "file", in: "path", required: true, schema: { type: "string" } }],
    responses: {
      200: answer("The file.", { "text/javascript": page, "text/css": page }),
      404: missing,
    },
  }),
};
