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
    status: { type: "string", const: "ok" },
    idempotency: {
      type: "boolean",
      description: "Whether the platform supports `Idempotency-Key`.",
    },
    extensions: {
      type: "array",
      items: { type: "string" },
      description:
        "Additions to the documented operations that this platform has. `dry_run`: a change that is sent to `/dry-run` followed by its path is checked, rolled back and answered with 204.",
    },
  },
  required: ["status"],
};

const readySchema = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["ok", "unavailable"] },
    parts: {
      type: "object",
      description: "The state of each part: `store`, `schema`, `files`.",
      additionalProperties: {
        type: "object",
        properties: {
          ok: { type: "boolean" },
          reason: { type: "string", description: "Why the part cannot be used." },
        },
        required: ["ok"],
      },
    },
  },
  required: ["status", "parts"],
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
  "/health": buildRoute("service.health", "Check whether the process is alive.", {
    responses: {
      200: buildAnswer("The process is alive.", { "application/json": healthSchema }),
    },
  }),
  "/ready": buildRoute("service.ready", "Check whether the service can serve requests.", {
    responses: {
      200: buildAnswer("Every part can be used.", { "application/json": readySchema }),
      503: buildAnswer("A part cannot be used; its reason says why.", {
        "application/json": readySchema,
      }),
    },
  }),
  "/openapi.json": buildRoute("service.openapi", "Get this OpenAPI document.", {
    responses: {
      200: buildAnswer("The OpenAPI document.", { "application/json": { type: "object" } }),
    },
  }),
  "/docs": buildRoute("service.docs", "Browse this document as an HTML page.", {
    responses: { 200: buildAnswer("HTML page.", { "text/html": textSchema }) },
  }),
  "/docs/{file}": buildRoute("service.docs_file", "Get a script or style sheet of the HTML page.", {
    parameters: [
      {
        name: "file",
        in: "path",
        required: true,
        schema: { type: "string" },
        description: "name of a file of the viewer",
      },
    ],
    responses: {
      200: buildAnswer("The file.", { "text/javascript": textSchema, "text/css": textSchema }),
      404: notFound,
    },
  }),
};
