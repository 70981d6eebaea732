import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import { type Caller, type Person, startPlatform, type TestPlatform } from "../support/platform.ts";
import { type Records, seed } from "../support/records.ts";
import { connectionOf } from "../support/pdf.ts";
import { SAMPLES } from "../support/samples.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { checkRefusal, checkSuccess } from "./answers.ts";
import { dump, recordTables } from "./dump.ts";
import { build, type Built, PLAIN, type Recipe, recipes, shapeOf } from "./recipes.ts";
import { watchRecords } from "./watch.ts";
import { verifies } from "../support/verifies.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
// Operations with more inputs get more tries; `published-requests.test.ts` sends more, without a look at the records.
const triesFor = ({ body, query }: Operation): number => {
  if (body !== null) return 40;
  return Object.keys(query.shape).length > 0 ? 30 : 16;
};
const TENANT = "careful";

const shown = ({ method, path, body, headers }: Built): string =>
  `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}\n${(body ?? "").slice(0, 600)}`;

/** The request without what is random in it, so that it is the same on every database. */
const named = ({ records }: Trial, text: string): string =>
  text
    .replaceAll(records.accessToken, "<token>")
    .replaceAll(encodeURIComponent(records.auditCursor), "<cursor>");

type Told = { operation: string; status: number; code: unknown; request: string };

type Trial = {
  at: TestPlatform;
  admin: Person;
  auditor: Caller;
  touches: () => Promise<number>;
  state: () => Promise<Map<string, string[]>>;
  changes: number;
  records: Records;
  fresh: () => string;
};

const API_KEY = "/authentication/v1/tenants/{t}/users/profile/api-key";

/** Adds new records of every kind for the next requests. */
const reseed = async (
  trial: Pick<Trial, "at" | "admin" | "auditor" | "fresh">,
): Promise<Records> => {
  const { at, admin, auditor, fresh } = trial;
  await at.store.transaction((tx) => tx.deleteFrom("api_keys").execute());
  const { keyId } = (await admin.call("POST", API_KEY)).body;
  const connectionId = await connectionOf(at.store, TENANT);
  const callers = { auditor, ingester: auditor, exporter: auditor };
  return seed({
    admin,
    tenantId: TENANT,
    keyId,
    ...callers,
    connectionId,
    store: at.store,
    mark: fresh(),
  });
};

const begin = async (dialect: Dialect): Promise<Trial> => {
  const at = await startPlatform(dialect);
  const admin = await at.tenant(TENANT);
  const auditor = await at.exportCaller(TENANT);
  let made = 0;
  const fresh = (): string => `fresh-${(made += 1)}`;
  const parts = { at, admin, auditor, fresh };
  const records = await reseed(parts);
  const touches = await watchRecords(at.store);
  const tables = await recordTables(at.store.read);
  return { ...parts, records, changes: 0, touches, state: () => dump(at.store, tables) };
};

const requestOf = (trial: Trial, operation: Operation, recipe: Recipe): Built => {
  const samples = SAMPLES[operation.id] ?? [];
  const routes = [operation, ...operation.aliases];
  // Requests in process cannot carry the body of a GET, so a POST alias is preferred.
  const route = routes[(recipe.route + routes.length - 1) % routes.length] ?? operation;
  const sample = samples[recipe.variant % samples.length];
  if (sample === undefined) throw new Error(`${operation.id} has no sample`);
  const args = { tenantId: TENANT, ...sample(trial.records, trial.fresh()) };
  return build(shapeOf(operation), route, args, recipe);
};

const send = (trial: Trial, operation: Operation, built: Built) => {
  const { admin, auditor, at } = trial;
  const callers = { public: at.call, gateway: admin.call, export: auditor, ingest: auditor };
  const call = callers[operation.access === "public" ? "public" : operation.service];
  const { method, path, headers, body } = built;
  return call(method, path, { headers, ...(body === undefined ? {} : { raw: body }) });
};

/** Sends one request; a refused one must change nothing. Returns the response and whether records changed. */
const attempt = async (
  trial: Trial,
  operation: Operation,
  built: Built,
): Promise<{ told: Told; changed: boolean }> => {
  trial.at.clock.advance(SECOND);
  const before = await trial.touches();
  const reply = await send(trial, operation, built);
  const changed = (await trial.touches()) !== before;
  if (reply.status >= 400) checkRefusal(operation, reply);
  else checkSuccess(operation, reply);
  if (reply.status >= 400 || operation.effect === "read") expect(changed).toBe(false);
  const code: unknown =
    reply.status < 400 ? "" : (reply.body.code ?? reply.body.error.code ?? reply.body.error);
  return {
    told: {
      operation: operation.id,
      status: reply.status,
      code,
      request: named(trial, shown(built)),
    },
    changed,
  };
};

const TABLES: Record<string, string> = { auth: "users" };

/** Some records stay, marked as deleted, for what they have left. */
const livingIn = (state: Map<string, string[]>, table: string): number =>
  (state.get(table) ?? []).filter((line) => !/"deleted_at":\d/.test(line)).length;

/** A change adds one record, takes one away or alters what is there, as its operation says. */
const checkChange = (
  { id, service, effect, method }: Operation,
  before: Map<string, string[]>,
  after: Map<string, string[]>,
): void => {
  const noun = id.split(".")[0] ?? "";
  const table = TABLES[noun] ?? noun;
  const more = livingIn(after, table) - livingIn(before, table);
  // A PUT of the ingest API makes what is not there.
  if (service === "ingest" && method === "PUT") return expect([0, 1], table).toContain(more);
  const expected = effect === "create" ? 1 : 0;
  expect(more, table).toBe(method === "DELETE" ? -1 : expected);
};

/** Looks at what a success has changed, and makes sure that the next request finds its records; gives what now stands. */
const accept = async (
  trial: Trial,
  operation: Operation,
  before: Map<string, string[]>,
): Promise<Map<string, string[]>> => {
  const after = await trial.state();
  checkChange(operation, before, after);
  trial.changes += 1;
  if (operation.method !== "DELETE") return after;
  trial.records = await reseed(trial);
  return trial.state();
};

/** Depends on the operation alone, so that a new operation leaves the requests to the others as they are. */
const seedOf = ({ id }: Operation): number => {
  let seed = SEED;
  for (const letter of id) seed = (Math.imul(seed, 31) + letter.charCodeAt(0)) | 0;
  return seed;
};

const tryAll = async (trial: Trial, operation: Operation): Promise<Told[]> => {
  const numRuns = triesFor(operation);
  const seed = seedOf(operation);
  const list = [PLAIN, ...fc.sample(recipes(shapeOf(operation)), { seed, numRuns })];
  const told: Told[] = [];
  if (operation.effect !== "read") trial.records = await reseed(trial);
  // Resets the limits on failed logins of address and account.
  trial.at.clock.advance(15 * MINUTE);
  // Logs in again if the session has ended, before states are compared.
  await trial.admin.call("GET", "/user/v1/users/profile");
  let state = await trial.state();
  for (const recipe of list) {
    const built = requestOf(trial, operation, recipe);
    try {
      const done = await attempt(trial, operation, built);
      told.push(done.told);
      if (!done.changed) continue;
    } catch (error) {
      throw new Error(`${operation.id}, FAULT_SEED=${SEED}: ${shown(built)}`, { cause: error });
    }
    state = await accept(trial, operation, state);
  }
  expect(await trial.state(), operation.id).toEqual(state);
  return told;
};

describe("bad input", () => {
  const told = new Map<string, Told[]>();

  verifies("C-39", "C-41", "C-47", "C-48", "C-50");
  it.each(dialects)(
    `is refused without a change by every operation, or accepted as declared ($name, FAULT_SEED=${SEED})`,
    { timeout: 10 * MINUTE },
    async (dialect) => {
      const trial = await begin(dialect);
      try {
        const all: Told[] = [];
        for (const operation of operations) all.push(...(await tryAll(trial, operation)));
        told.set(dialect.name, all);
        expect(all.length).toBeGreaterThanOrEqual(2000);
        // The comparison of states must have found changes, or it does not work.
        expect(trial.changes).toBeGreaterThan(200);
        for (const { id } of operations) {
          const statuses = all.filter((one) => one.operation === id).map(({ status }) => status);
          expect(statuses.length, id).toBeGreaterThan(15);
          expect(
            statuses.some((status) => status < 400),
            id,
          ).toBe(true);
          expect(
            statuses.some((status) => status >= 400),
            id,
          ).toBe(true);
        }
        expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      } finally {
        await trial.at.close();
      }
    },
  );

  verifies("C-08");
  it("has the same responses on both databases", () => {
    const [first = [], ...others] = dialects.map(({ name }) => told.get(name) ?? []);
    expect(first.length).toBeGreaterThanOrEqual(2000);
    for (const other of others) {
      for (const [index, one] of first.entries()) expect(other[index]).toEqual(one);
    }
  });
});
