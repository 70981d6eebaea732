import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { Problem } from "../../src/contract/errors.ts";
import { mergeArguments, type Operation } from "../../src/contract/operation.ts";
import { remoteClient, type RemoteClient } from "../support/remote-client.ts";
import { wildServer, type WildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

type Answer = { status: number; headers: [string, string][]; body: Uint8Array };

const SECRET = "canary-of-the-property-test";
const readings = operations.filter(({ raw }) => raw === null);

/** Arguments that may travel; what they mean is the platform's concern. */
const argumentsOf = (operation: Operation): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(mergeArguments(operation)).flatMap((name) =>
      operation.path.includes(`{${name}}`) ? [[name, "x-1"]] : [],
    ),
  );

const words = fc.constantFrom(
  "code",
  "detail",
  "title",
  "error",
  "errors",
  "message",
  "requestId",
  "data",
  "pagination",
  "cursor",
  "hasMore",
  "status",
  "items",
  "__proto__",
  "constructor",
  "toString",
  "invalid_request",
  "not_found",
);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 1e308, -0, "", SECRET, "\u202e\u0000\ud800"),
    fc.double(),
    fc.string({ unit: "binary" }),
    words,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(words, tie("value")), { maxLength: 6 }).map((pairs) => {
      const made: Record<string, unknown> = Object.create(null);
      for (const [name, value] of pairs) made[name] = value;
      return made;
    }),
  ),
})).value;

const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  values.map((value) => Buffer.from(JSON.stringify(value) ?? "")),
  fc.json().map((text) => Buffer.from(text)),
  fc.tuple(fc.json(), fc.nat(40)).map(([text, cut]) => Buffer.from(text.slice(0, -cut))),
);

const headerValues = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."abc123 ,;=\"'/%*-W".split("")), maxLength: 60 }),
  fc.constantFrom("application/json", "1", "-1", "1e9", "99999999999", '"1", "2"', "attachment"),
);
const headerNames = fc.constantFrom(
  "content-type",
  "content-encoding",
  "content-disposition",
  "etag",
  "x-request-id",
  "x-total-count",
  "x-ignored-fields",
  "idempotency-replayed",
);

const answers: fc.Arbitrary<Answer> = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 200, 201, 204, 302, 400, 401, 403, 404, 409, 412, 422, 429, 500, 503),
    fc.integer({ min: 200, max: 999 }),
  ),
  headers: fc
    .array(fc.tuple(headerNames, headerValues), { maxLength: 5 })
    .map((list): [string, string][] => [["content-type", "application/json"], ...list]),
  body: bodies,
});

let server: WildServer;
let client: RemoteClient;
let answer: Answer;
const leaks: unknown[] = [];
const leak = (error: unknown) => leaks.push(error);

beforeAll(async () => {
  server = await wildServer((_request, response) => {
    const { status, headers, body } = answer;
    response.writeHead(status, headers.flat()).end(body);
  });
  client = remoteClient(server.url);
  process.on("unhandledRejection", leak);
});
afterAll(async () => {
  process.off("unhandledRejection", leak);
  await client.close();
  await server.close();
});

const checkProblem = (problem: Problem): void => {
  expect(problem.message.length).toBeLessThanOrEqual(500);
  expect(problem.message.trim()).not.toBe("");
  expect(problem.message).not.toMatch(/\p{C}/u);
  expect(problem.status).toBeGreaterThanOrEqual(400);
  const { retryAfterSeconds = 0, requestId = "id" } = problem.details;
  expect(retryAfterSeconds).toBeGreaterThanOrEqual(0);
  expect(requestId).toMatch(/^[\w-]{1,128}$/);
};

verifies("C-47");
describe("arbitrary responses of a platform", () => {
  it("become an output that fits its schema, or a Problem with a short and clean message", async () => {
    const seen = { outputs: 0, problems: 0 };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...readings), answers, async (operation, told) => {
        answer = told;
        server.seen.length = 0;
        client.lines.length = 0;
        const credential = { "x-api-key": SECRET };
        const options = { tool: "a_tool", maxFileBytes: 1000 };
        try {
          const reply = await client.call(operation, argumentsOf(operation), credential, options);
          seen.outputs += 1;
          if (operation.output !== null) operation.output.parse(reply.output);
          expect(JSON.stringify(reply.output) ?? "").not.toContain(SECRET);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          seen.problems += 1;
          checkProblem(error);
          expect(`${error.message}${JSON.stringify(error.details)}`).not.toContain(SECRET);
        }
        expect(client.lines.join("")).not.toContain(SECRET);
        expect(server.seen.length).toBeLessThanOrEqual(4);
      }),
      { numRuns: 1500, seed: 20_261_121 },
    );
    expect(leaks).toEqual([]);
    expect(seen.problems).toBeGreaterThan(500);
    expect(seen.outputs).toBeGreaterThan(5);
  });
});
