import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { platformOperations } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";
import { examples } from "../src/contract/openapi/examples.ts";
import { type Caller, type Person, startPlatform, type TestPlatform } from "./support/platform.ts";
import { connectionOf, pdf } from "./support/pdf.ts";
import { answerAt, faultsIn, operationAt } from "./support/published.ts";
import { type Records, seed } from "./support/records.ts";
import { type Arguments, SAMPLES, wire } from "./support/samples.ts";

const FILE = fileURLToPath(new URL("../src/contract/openapi/examples.json", import.meta.url));
const TENANT = "acme";

type Example = { path: Arguments; query: Arguments; body?: unknown; response?: unknown };

const SECRETS: Readonly<Record<string, string>> = {
  accessToken: "the-token-of-a-session",
  apiKey: "the-key",
  secret: "the-secret",
  password: "the-password",
  cursor: "the-next-page",
};

/** Shortens lists, and replaces secrets and what only a test would call so. */
const tidy = (value: unknown, name = ""): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map((one) => tidy(one));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, tidy(one, key)]));
  }
  if (typeof value !== "string") return value;
  return (SECRETS[name] ?? value)
    .replaceAll(/canary-of-\w+/g, "An example")
    .replaceAll(/([?&]sig=)[\w-]+/g, "$1the-signature");
};

/** What to do about an example that is missing or wrong. */
const HINT = "Run EXAMPLES=write npx vitest run test/openapi-examples.test.ts";

const hasJson = ({ output, file }: Operation): boolean => output !== null && !file;

const WRITES = process.env["EXAMPLES"] === "write";

describe.runIf(WRITES)("the examples", () => {
  let at: TestPlatform;
  let admin: Person;
  let keyed: Caller;
  let keyId: string;
  beforeAll(async () => {
    at = await startPlatform();
    admin = await at.tenant(TENANT);
    keyed = await at.exportCaller(TENANT);
    const path = "/authentication/v1/tenants/{t}/users/profile/api-key";
    keyId = (await admin.call("POST", path)).body.keyId;
  });
  afterAll(() => at.close());

  const prepare = async (mark: string): Promise<Records> =>
    seed({
      admin,
      tenantId: TENANT,
      keyId,
      auditor: keyed,
      ingester: keyed,
      exporter: keyed,
      connectionId: await connectionOf(at.store, TENANT),
      store: at.store,
      mark,
    });

  const exchange = async (operation: Operation, mark: string): Promise<Example> => {
    const given = await prepare(mark);
    const connection = { connectionId: await connectionOf(at.store, TENANT) };
    const own = operation.raw === null ? {} : { ...connection, ...given.document };
    const args: Arguments = {
      tenantId: TENANT,
      ...own,
      ...SAMPLES[operation.id]?.[0]?.(given, `NEW-${mark}`),
    };
    const route = operation.aliases.find(({ method }) => method === "POST") ?? operation;
    const { method, path, body } = wire(operation, route, args);
    const isPublic = operation.access === "public";
    const ofGateway = operation.service === "gateway" ? admin.call : keyed;
    const file = { raw: pdf(), headers: { "Content-Type": "application/pdf" } };
    const json = body === undefined ? {} : { body };
    const sent = operation.raw === null ? json : file;
    const reply = await (isPublic ? at.call : ofGateway)(method, path, sent);
    expect(reply.status, reply.text).toBeLessThan(300);
    const of = (shape: object) => {
      const named = Object.entries(args).filter(([name]) => Object.hasOwn(shape, name));
      return tidy(Object.fromEntries(named)) as Arguments;
    };
    return {
      path: of(operation.params.shape),
      query: of(operation.query.shape),
      ...(body === undefined ? {} : { body: tidy(body) }),
      ...(hasJson(operation) ? { response: tidy(reply.body) } : {}),
    };
  };

  it("are what the platform answers", async () => {
    const made: Record<string, Example> = {};
    for (const [index, operation] of platformOperations.entries()) {
      made[operation.id] = await exchange(operation, String(101 + index));
    }
    expect(Object.keys(made)).toHaveLength(platformOperations.length);
    // The document that was loaded has the former examples, so the new ones are checked before they replace them.
    const faults = platformOperations.flatMap((operation) =>
      listFaults(operation, made[operation.id]),
    );
    expect(faults).toEqual([]);
    await writeFile(FILE, `${JSON.stringify(made)}\n`);
  }, 120_000);
});

/** Returns what is wrong with the request and the response of a new example. */
function listFaults(operation: Operation, example: Example | undefined): string[] {
  const schemaOf = (part: unknown): object | undefined =>
    (part as { content?: Record<string, Media> } | undefined)?.content?.["application/json"]
      ?.schema;
  const route = operationAt(operation);
  const parts = [
    [schemaOf(route["requestBody"]), example?.body],
    [schemaOf(answerAt(operation, operation.status)), example?.response],
  ] as const;
  return parts
    .filter(([schema]) => schema !== undefined)
    .flatMap(([schema, value]) =>
      value === undefined ? ["is missing"] : faultsIn(schema ?? {}, value),
    )
    .map((fault) => `${operation.id}: ${fault}`);
}

type Media = { schema: object; example?: unknown };

// While they are written, the document that was loaded still has the former ones.
describe.skipIf(WRITES).each(platformOperations)("the example of $id", (operation) => {
  const route = operationAt(operation);

  it("has a value for each path parameter, and valid ones for the others", () => {
    const parameters = route["parameters"] as { in?: string; example?: unknown; schema: object }[];
    const faults = parameters.flatMap(({ in: place, example, schema }) => {
      if (example === undefined) return place === "path" ? ["no example"] : [];
      return faultsIn(schema, example);
    });
    expect(faults, HINT).toEqual([]);
  });

  it("has a valid request and a valid response", () => {
    const contents = [route["requestBody"], answerAt(operation, operation.status)]
      .map((part) => (part as { content?: Record<string, Media> } | undefined)?.content)
      .map((content) => content?.["application/json"]);
    for (const media of contents.filter((one) => one !== undefined)) {
      expect(media.example, HINT).toBeDefined();
      expect(faultsIn(media.schema, media.example), HINT).toEqual([]);
    }
    expect(contents[0] !== undefined).toBe(operation.body !== null);
    expect(contents[1] !== undefined).toBe(hasJson(operation));
  });
});

it.skipIf(WRITES)("has no examples of operations that do not exist", () => {
  const ids = new Set<string>(platformOperations.map(({ id }) => id));
  expect(Object.keys(examples).filter((id) => !ids.has(id))).toEqual([]);
});
