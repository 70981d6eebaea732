import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutAbout, readProblem, type Result, readText } from "../mcp/hosts.ts";
import {
  type ServerProcess,
  startHttpProcess,
  startStdioProcess,
} from "../support/server-process.ts";
import {
  CALLS,
  FAKE_KEY,
  fakePlatform,
  type FakePlatform,
  type Kind,
  KINDS,
  RIGHT,
} from "../support/fake-platform.ts";
import { useFolder } from "../support/folder.ts";
import { HOSTILE, type Misbehaviour, misbehaviours } from "../support/misbehaviours.ts";
import { certificateFor } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

/** Four servers start at once, on a machine that may be slow. */
const STARTING_MS = 180_000;
const SECONDS = { patient: "30", hasty: "2" };

const folder = useFolder();
let folders = 0;

const settings = (url: string, seconds: string): Record<string, string> => ({
  RECEIVABLES_DATA: join(folder, String(folders++)),
  RECEIVABLES_BASE_URL: url,
  RECEIVABLES_TENANT_ID: "acme",
  RECEIVABLES_API_KEY: FAKE_KEY,
  RECEIVABLES_REQUEST_SECONDS: seconds,
  RECEIVABLES_TOOLS_RATE_MINUTE: "0",
  RECEIVABLES_LOG: "debug",
});

/** Each transport has a fake of its own, so that tries can be counted while both are open. */
type Place = { fake: FakePlatform; patient: ServerProcess; hasty: ServerProcess };

const placeAt = async (
  start: (env: Record<string, string>) => Promise<ServerProcess>,
): Promise<Place> => {
  const fake = await fakePlatform();
  const open = (seconds: string) => start(settings(fake.url, seconds));
  const [patient, hasty] = await Promise.all([open(SECONDS.patient), open(SECONDS.hasty)]);
  return { fake, patient, hasty };
};

let places: Place[];

beforeAll(async () => {
  places = await Promise.all([placeAt(startStdioProcess), placeAt(startHttpProcess)]);
}, STARTING_MS);
afterAll(async () => {
  for (const { fake, patient, hasty } of places) {
    await Promise.all([patient.close(), hasty.close()]);
    await fake.close();
  }
});

const call = (server: ServerProcess, kind: Kind): Promise<Result> =>
  server.call(CALLS[kind].tool, { ...CALLS[kind].args });

const all = async (server: ServerProcess): Promise<[Kind, Result][]> =>
  Promise.all(KINDS.map(async (kind) => [kind, await call(server, kind)] as [Kind, Result]));

const checkTold = (kind: Kind, result: Result, expected: Misbehaviour): void => {
  const { code, says, wait, uncertain } = expected;
  const problem = readProblem(result);
  const text = readText(result);
  expect(result.isError, text).toBe(true);
  expect(result.structuredContent).toBeUndefined();
  expect(problem).toMatchObject({ code, message: expect.stringMatching(says) });
  expect(problem.retryAfterSeconds).toBe(wait);
  expect(problem.status).toBeGreaterThanOrEqual(400);
  expect(text.startsWith(`${code}: `)).toBe(true);
  expect(text).toContain(` Next: ${problem.nextStep}`);
  expect(/may have been done/.test(problem.nextStep)).toBe(uncertain && kind !== "read");
  expect(JSON.stringify(result)).not.toMatch(/never-shown/);
  expect(JSON.stringify(result).length).toBeLessThan(20_000);
};

const misbehave = async ({ fake, patient, hasty }: Place, how: Misbehaviour): Promise<void> => {
  const server = how.hangs === true ? hasty : patient;
  fake.misbehave(how.behave);
  for (const [kind, result] of await all(server)) checkTold(kind, result, how);
  expect({ ...fake.tries, check: fake.checks() }).toEqual({ ...how.tries, check: how.tries.read });
  fake.misbehave();
  for (const [kind, result] of await all(server)) {
    expect(result.isError, readText(result)).not.toBe(true);
    expect(withoutAbout(result)).toEqual(RIGHT[kind]);
  }
  expect(fake.unexpected).toEqual([]);
};

verifies("C-78");
describe("over both transports, a platform that", () => {
  it.each(misbehaviours.map((one) => [one.what, one] as const))(
    "%s is told of, tried no more often than is safe, and the next call is right",
    async (_what, how) => {
      const { length } = await Promise.all(places.map((place) => misbehave(place, how)));
      expect(length).toBe(2);
    },
  );

  verifies("D-MCP-3");
  it("honours keys gets repeated requests with the same key", async () => {
    for (const { fake, patient } of places) {
      let left = 2;
      fake.honoursKeys(true);
      fake.misbehave((_request, response) => {
        if (left-- > 0) response.destroy();
        else {
          response.writeHead(201, { "content-type": "application/json" });
          response.end(JSON.stringify(RIGHT.post));
        }
      });
      const made = await call(patient, "post");
      expect(withoutAbout(made)).toEqual(RIGHT.post);
      expect(fake.keys).toHaveLength(3);
      expect(new Set(fake.keys).size).toBe(1);
      fake.misbehave((_request, response) => response.destroy());
      const { nextStep } = readProblem(await call(patient, "post"));
      expect(nextStep).toContain(`idempotencyKey ${String(fake.keys[0])}`);
      fake.misbehave();
    }
  });

  verifies("C-81");
  it("misbehaves leaves neither its text nor the credential in any log or stream", () => {
    for (const { patient, hasty } of places) {
      for (const { stdout, stderr } of [patient.texts, hasty.texts]) {
        expect(stdout + stderr).not.toContain(HOSTILE);
        expect(stdout + stderr).not.toContain(FAKE_KEY);
        const [first = "", ...rest] = stdout.trimEnd().split("\n");
        const said = first.includes('"ready"') ? rest : [first, ...rest];
        for (const line of said) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
        // Over HTTP there is a word for the person, who starts it in a terminal, before the log.
        const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
        for (const line of lines) expect(JSON.parse(line)).toHaveProperty("event");
        expect(lines.length).toBeGreaterThan(10);
        expect(stderr).not.toMatch(/unhandled|uncaught/i);
      }
    }
  });
});

describe("over both transports, an address", () => {
  const URLS: [string, () => Promise<[string, () => Promise<void>]>, RegExp, RegExp][] = [
    [
      "whose certificate nobody vouches for",
      async () => {
        const fake = await fakePlatform(await certificateFor("platform.example"));
        return [fake.url, fake.close];
      },
      /certificate/,
      /doctor/,
    ],
    [
      "where nobody listens",
      async () => {
        const fake = await fakePlatform();
        await fake.close();
        return [fake.url, async () => {}];
      },
      /cannot be reached/,
      /Wait a minute/,
    ],
    [
      "that has no such name",
      async () => ["https://nobody.invalid", async () => {}],
      /cannot be (found|reached)/,
      /doctor|Wait a minute/,
    ],
  ];
  // Each test's own `expect`: the common one does not know which of several at a time is meant.
  it.concurrent.for(URLS)(
    "%s is reported in every call",
    async ([_what, open, says, step], context) => {
      const { expect } = context;
      const [url, close] = await open();
      const report = async (start: typeof startStdioProcess): Promise<void> => {
        const host = await start(settings(url, SECONDS.patient));
        for (const [, result] of await all(host)) {
          const problem = readProblem(result);
          expect(problem).toMatchObject({
            code: "unavailable",
            message: expect.stringMatching(says),
          });
          expect(problem.nextStep).toMatch(step);
        }
        await host.close();
        expect(host.texts.stdout + host.texts.stderr).not.toContain(FAKE_KEY);
      };
      await Promise.all([startStdioProcess, startHttpProcess].map(report));
      await close();
    },
  );
});
