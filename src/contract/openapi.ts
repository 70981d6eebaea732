import { platformOperations } from "./index.ts";
import type { Operation } from "./operation.ts";
import { isScope, isPermission } from "./permissions.ts";
import { buildSuccessResponses } from "./openapi/success-responses.ts";
import {
  describeAccess,
  isGateway,
  needsCredential,
  toTag,
  tags,
} from "./openapi/operation-traits.ts";
import { withDescriptions } from "./openapi/descriptions.ts";
import { HEADERS } from "./openapi/headers.ts";
import { SERVICE_TAG, serviceRoutes } from "./openapi/service-routes.ts";
import {
  type ErrorResponses,
  errorSchemas,
  createErrorResponses,
} from "./openapi/error-responses.ts";
import { buildRequestBody, buildParameters, requestHeaders } from "./openapi/requests.ts";
import { transferRoutes } from "./openapi/transfer-routes.ts";
import { type JsonSchema, type Schemas, createSchemas } from "./openapi/schemas.ts";

export type OpenApi = {
  openapi: string;
  info: object;
  servers: object[];
  tags: { name: string }[];
  paths: Record<string, Record<string, unknown>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, object>;
    parameters: Record<string, object>;
    headers: Record<string, object>;
    securitySchemes: Record<string, object>;
  };
};

const API_DESCRIPTION = `Accounts-receivable disputes: create, assign, resolve and audit claims about invoices.

- **Tenants.** Most paths contain a tenant id. A credential gives access to the tenants of its owner.
- **Requests** are JSON. Unknown fields are ignored and listed in \`X-Ignored-Fields\`; the export service rejects them.
- **Amounts** are exact to 15 significant digits. Times are UTC.
- **Lists** are complete unless you send a page or page size.
- **Errors** have a stable code and the request id.
- **Compatibility.** Responses may gain fields within a version. Ignore fields you do not know.`;

const buildHeaderScheme = (name: string, description: string): object => ({
  type: "apiKey",
  in: "header",
  name,
  description,
});

const buildSecuritySchemes = (headerWord: string): Record<string, object> => ({
  session: buildHeaderScheme(`X-${headerWord}-Auth`, "Access token from a login."),
  apiKey: buildHeaderScheme(
    `X-${headerWord}-Api-Key`,
    "API key of a user, with that user's access.",
  ),
  exportKey: buildHeaderScheme(
    "X-API-Key",
    "API key of the export and ingest services. It belongs to one tenant.",
  ),
});

const buildSecurity = (operation: Operation): object[] => {
  if (!needsCredential(operation)) return [];
  return isGateway(operation) ? [{ session: [] }, { apiKey: [] }] : [{ exportKey: [] }];
};

const buildRequirement = ({ access }: Operation): object => ({
  ...(isPermission(access) ? { "x-permission": access } : {}),
  ...(isScope(access) ? { "x-scope": access } : {}),
});

const POST_ALIAS_HINT =
  "If your HTTP client cannot send a body with GET, use POST on the same path.";

type Route = Pick<Operation, "method" | "path">;

const buildRoute = (
  operation: Operation,
  route: Route,
  schemas: Schemas,
  refusals: ErrorResponses,
): object => {
  const isAlias = route !== operation;
  const isGetWithBody = route.method === "GET" && operation.body !== null;
  const paragraphs = [describeAccess(operation), ...(isGetWithBody ? [POST_ALIAS_HINT] : [])];
  return {
    operationId: isAlias ? `${operation.id}.${route.method.toLowerCase()}` : operation.id,
    tags: [toTag(operation)],
    summary: operation.summary,
    description: paragraphs.join("\n\n"),
    security: buildSecurity(operation),
    ...buildRequirement(operation),
    ...(operation.extension ? { "x-extension": true } : {}),
    parameters: buildParameters(operation, schemas),
    ...buildRequestBody(operation, schemas),
    responses: { ...buildSuccessResponses(operation, schemas), ...refusals.of(operation) },
  };
};

const SCHEMAS_PATH = "#/components/schemas/";

type About = { headerWord: string; version: string };

/** Creates the OpenAPI 3.1 document of the platform in steps of a few milliseconds, between which a server can answer. */
export function* createOpenApiInSteps(about: About): Generator<undefined, OpenApi> {
  const schemas = yield* createSchemas();
  const components: Record<string, JsonSchema> = { ...schemas.components, ...errorSchemas };
  const find = (reference: string) => components[reference.slice(SCHEMAS_PATH.length)];
  const describe = <T extends object>(part: T, component = "") =>
    withDescriptions(part, component, find) as T;
  const refusals = createErrorResponses(platformOperations);
  const paths: OpenApi["paths"] = {};
  for (const operation of platformOperations) {
    yield;
    for (const route of [operation, ...operation.aliases]) {
      const path = (paths[route.path] ??= {});
      path[route.method.toLowerCase()] = describe(buildRoute(operation, route, schemas, refusals));
    }
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Receivables platform",
      version: about.version,
      description: API_DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...tags, SERVICE_TAG].map((name) => ({ name })),
    paths: { ...paths, ...describe({ ...transferRoutes, ...serviceRoutes } as OpenApi["paths"]) },
    components: {
      schemas: Object.fromEntries(
        Object.entries(components).map(([name, schema]) => [name, describe(schema, name)]),
      ),
      responses: refusals.components,
      parameters: requestHeaders,
      headers: HEADERS,
      securitySchemes: buildSecuritySchemes(about.headerWord),
    },
  };
}

/** Creates the OpenAPI 3.1 document of the platform at once. */
export const createOpenApi = (about: About): OpenApi => {
  const steps = createOpenApiInSteps(about);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
