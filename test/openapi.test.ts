import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { createOpenApi } from "../src/contract/openapi.ts";
import { sharedDescriptions } from "../src/contract/openapi/descriptions.ts";
import { DRY_RUN, hasDryRun } from "../src/contract/dry-run.ts";
import { contract, operations } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";
import { MINUTE } from "../src/kit/clock.ts";
import { isPermission, isScope } from "../src/contract/permissions.ts";
import { type Caller, startPlatform, type Person, type TestPlatform } from "./support/platform.ts";
import {
  ABOUT,
  answerAt,
  faultsOf,
  operationAt,
  published,
  refsIn,
  resolve,
  unnamedHeaders,
} from "./support/published.ts";
import { connectionOf } from "./support/pdf.ts";
import { type Records, seed } from "./support/records.ts";
import { type Arguments, SAMPLES, wire } from "./support/samples.ts";
import { verifies } from "./support/verifies.ts";

type Node = Record<string, unknown>;

const routesOf = (operation: Operation) => [operation, ...operation.aliases];
const routes = operations.flatMap((operation) =>
  routesOf(operation).map((route) => ({ operation, route })),
);
const named = routes.map(({ operation, route }) => ({
  name: `${operation.id} by ${route.method}`,
  operation,
  route,
}));

const everyOperation = Object.values(published.paths).flatMap((path) =>
  Object.values(path).map(resolve),
);

const namesOf = (value: unknown): string[] => Object.keys(value as object);

describe("the API document", () => {
  it("is a valid OpenAPI 3.1 document", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(published));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(published.openapi).toMatch(/^3\.1\./);
  });

  it("is found invalid when it is", async () => {
    const broken = structuredClone(published);
    const path = broken.paths["/health"] as { get: { responses?: unknown } };
    delete path.get.responses;
    path.get.responses = "none";
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it("says of every property and parameter what it means, and of nothing else", () => {
    const find = (schema: Node): unknown => schema["description"] ?? resolve(schema)["description"];
    const bare = (node: unknown, path: string): string[] => {
      if (typeof node !== "object" || node === null) return [];
      const own = Object.entries((node as { properties?: Record<string, Node> }).properties ?? {})
        .filter(([, property]) => find(property) === undefined)
        .map(([name]) => `${path} ${name}`);
      return [
        ...own,
        ...Object.entries(node).flatMap(([key, part]) => bare(part, `${path}/${key}`)),
      ];
    };
    const { components, paths } = published;
    expect([...bare(components.schemas, ""), ...bare(paths, "")]).toEqual([]);
    const parameters = everyOperation.flatMap(({ parameters: given = [] }) => given as Node[]);
    expect(parameters.filter((one) => find(one) === undefined)).toEqual([]);
    const said = new Set(JSON.stringify(published).match(/(?<="description":")(?:[^"\\]|\\.)*/g));
    expect(sharedDescriptions.filter((text) => !said.has(text))).toEqual([]);
  });

  it("is the same each time, but for the header word and the version", () => {
    const other = createOpenApi({ headerWord: "Acme", version: "9" });
    expect(JSON.stringify(createOpenApi(ABOUT))).toBe(JSON.stringify(published));
    const { securitySchemes } = other.components;
    expect(namesOf(securitySchemes)).toEqual(["session", "apiKey", "exportKey"]);
    expect(Object.values(securitySchemes)).toMatchObject([
      { name: "X-Acme-Auth", in: "header" },
      { name: "X-Acme-Api-Key", in: "header" },
      { name: "X-API-Key", in: "header" },
    ]);
    expect(other.info).toMatchObject({ version: "9" });
    const same = { ...other, info: published.info };
    same.components.securitySchemes = published.components.securitySchemes;
    expect(same).toEqual(published);
  });

  it("names nothing that is missing, and holds nothing that is not named", () => {
    const refs = new Set(refsIn(published));
    for (const $ref of refs) expect(resolve({ $ref }), $ref).not.toEqual({});
    const { securitySchemes, ...components } = published.components;
    const held = Object.entries(components).flatMap(([kind, members]) =>
      namesOf(members).map((name) => `#/components/${kind}/${name}`),
    );
    expect(held.filter((name) => !refs.has(name))).toEqual([]);
    const used = everyOperation.flatMap(({ security }) => (security as object[]).flatMap(namesOf));
    expect(new Set(used)).toEqual(new Set(namesOf(securitySchemes)));
  });

  it("gives each operation an id of its own and the tag of its noun", () => {
    const ids = everyOperation.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id } of operations) expect(ids).toContain(id);
    expect(ids).toContain("disputes.list_by_ids.post");
    const tags = new Set(everyOperation.flatMap((operation) => operation["tags"] as string[]));
    expect(tags).toEqual(new Set(published.tags.map(({ name }) => name)));
    expect(tags.size).toBe(Object.keys(contract).length + 1);
  });

  it("has a name for every record, and never writes one out in a path", () => {
    const inline = everyOperation.flatMap(({ operationId, requestBody, responses }) => {
      const answers = Object.entries(responses as object).filter(([status]) => status < "300");
      const contents = [requestBody, ...answers.map(([, answer]) => answer)].flatMap((part) =>
        Object.values((part as { content?: Record<string, { schema: object }> })?.content ?? {}),
      );
      return contents.some(({ schema }) => "properties" in schema) ? [operationId] : [];
    });
    expect(inline).toEqual(["service.health", "service.ready"]);
    const names = namesOf(published.components.schemas);
    expect(names).toEqual(expect.arrayContaining(["Dispute", "DisputeNote", "Reason", "Problem"]));
  });
});

describe.each(named)("$name in the document", ({ operation, route }) => {
  const described = operationAt(route);

  it("is summed up and guarded as the contract says", () => {
    const { access, service } = operation;
    expect(described["summary"]).toBe(operation.summary);
    expect(described["x-permission"]).toBe(isPermission(access) ? access : undefined);
    expect(described["x-scope"]).toBe(isScope(access) ? access : undefined);
    const schemes = service === "gateway" ? ["session", "apiKey"] : ["exportKey"];
    expect((described["security"] as object[]).flatMap(namesOf)).toEqual(
      access === "public" ? [] : schemes,
    );
  });

  it("takes the contract's parameters and body", () => {
    const parameters = (described["parameters"] as unknown[]).map(resolve);
    const at = (place: string) => parameters.filter((parameter) => parameter["in"] === place);
    const shapeOf = (place: string) => at(place).map(({ name }) => name);
    expect(shapeOf("path")).toEqual(Object.keys(operation.params.shape));
    expect(shapeOf("query")).toEqual(Object.keys(operation.query.shape));
    expect(at("path").every(({ required }) => required === true)).toBe(true);
    for (const { name, required, schema, style, explode } of at("query")) {
      const field = operation.query.shape[String(name)] as z.ZodType;
      expect(required ?? false).toBe(!field.safeParse(undefined).success);
      const isArray = (schema as { type?: string }).type === "array";
      expect([style, explode]).toEqual(isArray ? ["form", true] : [undefined, undefined]);
    }
    expect(described["requestBody"] !== undefined).toBe(operation.body !== null);
  });

  it("can be refused with each code it declares, and with what befalls any", () => {
    const codes = namesOf(described["responses"])
      .map((status) => answerAt(route, Number(status)))
      .map((answer) => String(answer?.["description"]))
      .join("\n");
    for (const code of [...operation.errors, "internal"]) expect(codes).toContain(`\`${code}\``);
    expect(namesOf(described["responses"])).toContain(String(operation.status));
  });
});

describe("the served and the documented routes", () => {
  const TENANT = "documented";
  let at: TestPlatform;
  let admin: Person;
  let keyed: Caller;
  let connectionId: string;
  let keyId: string;
  /** For requests that change nothing. */
  let shared: Records;
  let counter = 0;

  beforeAll(async () => {
    at = await startPlatform();
    admin = await at.tenant(TENANT);
    keyed = await at.exportCaller(TENANT);
    connectionId = await connectionOf(at.store, TENANT);
    const path = "/authentication/v1/tenants/{t}/users/profile/api-key";
    keyId = (await admin.call("POST", path)).body.keyId;
    shared = await records();
  });
  afterAll(() => at.close());

  const records = (): Promise<Records> =>
    seed({
      admin,
      tenantId: TENANT,
      keyId,
      auditor: keyed,
      ingester: keyed,
      exporter: keyed,
      connectionId,
      store: at.store,
      mark: `doc-${(counter += 1)}`,
    });

  const callerFor = ({ service, access }: Operation): Caller => {
    if (access === "public") return at.call;
    return service === "gateway" ? admin.call : keyed;
  };

  const argumentsOf = (operation: Operation, given: Records): Arguments => ({
    tenantId: TENANT,
    ...SAMPLES[operation.id]?.[0]?.(given, `fresh-${(counter += 1)}`),
  });

  /** A request in process cannot carry the body of a GET; the POST alias has the same responses. */
  const sendable = named.filter(
    ({ operation, route }) => operation.body === null || route.method !== "GET",
  );

  verifies("C-46");
  it("serves every route of the document, and none that is not in it", () => {
    const served = at.platform.routes
      // Pages for people are no part of the API.
      .filter(({ method, path }) => method !== "ALL" && !path.startsWith("/account/"))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const documented = Object.entries(published.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(new Set(served).size).toBe(served.length);
    // Dry runs have the routes of their operations, and are described once.
    const dryRuns = operations
      .filter(hasDryRun)
      .map(({ method, path }) => `${method} ${DRY_RUN.path}${path}`);
    expect(served.toSorted()).toEqual([...documented, ...dryRuns].toSorted());
  });

  verifies("C-46");
  it("answers every documented route, and refuses its other methods", async () => {
    for (const path of Object.keys(published.paths)) {
      const somewhere = path.replaceAll(/\{\w+\}/g, "start.js");
      const other = await at.call("TRACE_", somewhere);
      expect([path, other.status]).toEqual([path, 405]);
      // A document may have the number `summary`, and then has the methods of a document, too.
      const isRecord = path.endsWith("/documents/summary");
      const paths = isRecord ? [path, path.replace(/summary$/, "{document_number}")] : [path];
      const allowed = paths
        .flatMap((each) => Object.keys(published.paths[each] ?? {}))
        .map((name) => name.toUpperCase());
      expect(other.headers.get("allow")?.split(", ").toSorted()).toEqual(
        [...new Set(allowed)].toSorted(),
      );
    }
  });

  it.each(sendable)("$name answers as documented", async ({ operation, route }) => {
    const given = operation.effect === "change" ? await records() : shared;
    const sent = wire(operation, route, argumentsOf(operation, given));
    const reply = await callerFor(operation)(
      sent.method,
      sent.path,
      sent.body === undefined ? {} : { body: sent.body },
    );
    expect(reply.status, reply.text).toBe(operation.upsert ? 201 : operation.status);
    expect(faultsOf(route, reply)).toEqual([]);
    expect(unnamedHeaders(route, reply)).toEqual([]);
    const headers = namesOf(answerAt(route, reply.status)?.["headers"]);
    for (const name of ["X-Request-Id", "Location", "ETag", "X-Total-Count"]) {
      expect([name, reply.headers.has(name)]).toEqual([name, headers.includes(name)]);
    }
    const location = reply.headers.get("location");
    if (location === null) return;
    const record = await callerFor(operation)("GET", location);
    const both = Object.entries(reply.body).filter(([field]) => field in record.body);
    expect([record.status, both.length]).toEqual([200, expect.toSatisfy((many) => many > 0)]);
    expect(record.body).toMatchObject(Object.fromEntries(both));
  });

  it.each(sendable)("$name refuses as documented", async ({ operation, route }) => {
    // An address may fail so often in a minute.
    at.clock.advance(MINUTE);
    const known = argumentsOf(operation, shared);
    const isOpen = operation.access === "public";
    const inTenant = "tenantId" in operation.params.shape;
    const tries: { call: Caller; args: Arguments; refused: number | undefined }[] = [
      { call: at.call, args: known, refused: isOpen ? undefined : 401 },
      {
        call: callerFor(operation),
        args: { ...known, tenantId: "elsewhere" },
        refused: inTenant ? 403 : undefined,
      },
      { call: callerFor(operation), args: unknownIn(operation), refused: undefined },
    ];
    for (const { call, args, refused } of tries) {
      const { method, path, body } = wire(operation, route, args);
      const bodies = operation.body === null ? [{}] : [{ body }, { raw: "{" }, { raw: "[]" }];
      for (const sent of bodies) {
        const reply = await call(method, path, sent);
        if (refused !== undefined) expect(reply.status).toBe(refused);
        expect(faultsOf(route, reply), reply.text).toEqual([]);
        expect(unnamedHeaders(route, reply)).toEqual([]);
      }
    }
  });

  /** Every record that can be named is one that does not exist. */
  const unknownIn = (operation: Operation): Arguments => ({
    ...Object.fromEntries(Object.keys(operation.params.shape).map((name) => [name, "a@b.example"])),
    tenantId: TENANT,
  });

  it("sends pages with links, names ignored fields and replays, as documented", async () => {
    const { create, list } = contract.disputes;
    const args = argumentsOf(create, shared);
    const { method, path, body } = wire(create, create, args);
    const headers = { "Idempotency-Key": "once" };
    const made = await admin.call(method, path, { body: { ...body, colour: 1 }, headers });
    expect(made.headers.get("x-ignored-fields")).toBe("colour");
    const again = await admin.call(method, path, { body: { ...body, colour: 1 }, headers });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("location")).toBe(made.headers.get("location"));
    const other = await admin.call(method, path, { body: { ...body, amount: 1 }, headers });
    expect(other.status).toBe(422);
    for (const reply of [made, again, other]) {
      expect([faultsOf(create, reply), unnamedHeaders(create, reply)]).toEqual([[], []]);
    }
    const page = await admin.call("GET", `/dispute/v1/tenants/${TENANT}/disputes?PageSize=1`);
    expect(page.headers.get("link")).toContain('rel="next"');
    expect([faultsOf(list, page), unnamedHeaders(list, page)]).toEqual([[], []]);
  });

  it("accept values up to the documented limits, and refuse values beyond them", async () => {
    const limits = { gatewayPerMinute: 1, loginPerMinute: 2, exportPerMinute: 1 };
    const limited = await startPlatform(undefined, { limits });
    try {
      const person = await limited.tenant(TENANT);
      const exported = await limited.exportCaller(TENANT);
      const asked: [Operation, Caller][] = [
        [contract.disputes.list, person.call],
        [contract.audit_logs.list, exported],
        [contract.accounts.get, exported],
      ];
      for (const [operation, call] of asked) {
        const names = { tenantId: TENANT, account_number: "unknown" };
        const { method, path } = wire(operation, operation, names);
        const replies = [await call(method, path), await call(method, path)];
        const first = operation.service === "ingest" ? 404 : 200;
        expect(replies.map(({ status }) => status)).toEqual([first, 429]);
        for (const reply of replies) {
          expect(reply.headers.has("ratelimit")).toBe(true);
          expect([faultsOf(operation, reply), unnamedHeaders(operation, reply)]).toEqual([[], []]);
        }
      }
    } finally {
      await limited.close();
    }
  });
});
