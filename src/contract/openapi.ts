import { servedOperations } from "./index.ts";
import type { Operation } from "./operation.ts";
import { isScope, isPermission } from "./permissions.ts";
import { answersOf } from "./openapi/answers.ts";
import { accessWords, isGateway, needsCredential, tagOf, tags } from "./openapi/facts.ts";
import { HEADERS } from "./openapi/headers.ts";
import { OWN_TAG, ownRoutes } from "./openapi/own-routes.ts";
import { type Refusals, refusalSchemas, refusalsOf } from "./openapi/refusals.ts";
import { bodyOf, parametersOf, requestHeaders } from "./openapi/requests.ts";
import { transferRoutes } from "./openapi/transfers.ts";
import { type JsonSchema, type Schemas, schemasOf } from "./openapi/schemas.ts";

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

const ABOUT = `Disputes of accounts receivable: who claims what is not owed, why, who works it, and how it ends.

- **Tenants.** Almost every path names a tenant; a credential opens those of its owner.
- **Requests** are JSON. Fields that mean nothing here are ignored and named in \`X-Ignored-Fields\`; the export service refuses them.
- **Numbers** of money are exact to 15 significant digits. Times are UTC.
- **Lists** come whole, or in pages as soon as a page or page size is asked for.
- **Refusals** bear a code that stays, and the request's id.
- **Within a version** answers only gain fields: be ready for ones you do not know.`;

const header = (name: string, description: string): object => ({
  type: "apiKey",
  in: "header",
  name,
  description,
});

const securitySchemes = (headerWord: string): Record<string, object> => ({
  session: header(`X-${headerWord}-Auth`, "The access token of a login."),
  apiKey: header(`X-${headerWord}-Api-Key`, "A person's API key, with that person's access."),
  exportKey: header(
    "X-API-Key",
    "A key of the export and ingest services; it belongs to one tenant.",
  ),
});

const securityOf = (operation: Operation): object[] => {
  if (!needsCredential(operation)) return [];
  return isGateway(operation) ? [{ session: [] }, { apiKey: [] }] : [{ exportKey: [] }];
};

const rightOf = ({ access }: Operation): object => ({
  ...(isPermission(access) ? { "x-permission": access } : {}),
  ...(isScope(access) ? { "x-scope": access } : {}),
});

const WITHOUT_BODY =
  "Many clients cannot send a body with GET: POST on the same path does the same.";

type Route = Pick<Operation, "method" | "path">;

const describe = (
  operation: Operation,
  route: Route,
  schemas: Schemas,
  refusals: Refusals,
): object => {
  const twin = route !== operation;
  const bodiedGet = route.method === "GET" && operation.body !== null;
  const words = [accessWords(operation), ...(bodiedGet ? [WITHOUT_BODY] : [])];
  return {
    operationId: twin ? `${operation.id}.${route.method.toLowerCase()}` : operation.id,
    tags: [tagOf(operation)],
    summary: operation.summary,
    description: words.join("\n\n"),
    security: securityOf(operation),
    ...rightOf(operation),
    parameters: parametersOf(operation, schemas),
    ...bodyOf(operation, schemas),
    responses: { ...answersOf(operation, schemas), ...refusals.of(operation) },
  };
};

const pathsOf = (schemas: Schemas, refusals: Refusals): OpenApi["paths"] => {
  const paths: OpenApi["paths"] = {};
  for (const operation of servedOperations) {
    for (const route of [operation, ...operation.also]) {
      const path = (paths[route.path] ??= {});
      path[route.method.toLowerCase()] = describe(operation, route, schemas, refusals);
    }
  }
  return { ...paths, ...(transferRoutes as OpenApi["paths"]), ...(ownRoutes as OpenApi["paths"]) };
};

/** The contract as an OpenAPI 3.1 document. */
export const openapi = (about: { headerWord: string; version: string }): OpenApi => {
  const schemas = schemasOf();
  const refusals = refusalsOf(servedOperations);
  return {
    openapi: "3.1.1",
    info: {
      title: "Receivables platform",
      version: about.version,
      description: ABOUT,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...tags, OWN_TAG].map((name) => ({ name })),
    paths: pathsOf(schemas, refusals),
    components: {
      schemas: { ...schemas.components, ...refusalSchemas },
      responses: refusals.components,
      parameters: requestHeaders,
      headers: HEADERS,
      securitySchemes: securitySchemes(about.headerWord),
    },
  };
};
