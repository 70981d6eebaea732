import { beforeAll, describe, expect, it } from "vitest";
import { operations } from "../src/contract/index.ts";
import { type Operation, parsePathParameters } from "../src/contract/operation.ts";
import {
  isPermission,
  isScope,
  type Permission,
  PERMISSIONS,
  type Scope,
  SCOPES,
} from "../src/contract/permissions.ts";
import { MINUTE } from "../src/kit/clock.ts";
import { randomId } from "../src/kit/ids.ts";
import { formatEndpoint } from "../src/platform/http/audit.ts";
import { createUser } from "../src/platform/admin/users.ts";
import { type Caller, onEveryStore, type Person, type Reply } from "./support/platform.ts";
import { rowsOf } from "./support/audit.ts";
import { connectionOf } from "./support/pdf.ts";
import { type Records, seed } from "./support/records.ts";
import { type Arguments, SAMPLES, wire } from "./support/samples.ts";
import { listTables } from "./support/tables.ts";
import { verifies } from "./support/verifies.ts";

const OWN = "own";
/** In names, e-mail addresses and descriptions of the other tenant's records, and in no record of this tenant. */
const FOREIGN = "foreign";

const byId = (list: readonly Operation[]) =>
  list.map((operation) => [operation.id, operation] as const);
const guarded = byId(operations.filter(({ access }) => access !== "public"));
const permitted = byId(operations.filter(({ access }) => isPermission(access)));
const scoped = byId(operations.filter(({ access }) => isScope(access)));
const tenanted = byId(operations.filter(({ path }) => path.includes("{tenantId}")));

const routesOf = (operation: Operation) => [operation, ...operation.aliases];

/** The route on which a request in process can carry the operation's body. */
const sendable = (operation: Operation) =>
  routesOf(operation).find(({ method }) => operation.body === null || method !== "GET") ??
  operation;

const subsets = (names: readonly string[]): string[][] =>
  names
    .reduce<string[][]>((sets, name) => [...sets, ...sets.map((set) => [...set, name])], [[]])
    .filter((set) => set.length > 0);

onEveryStore("permission and tenant matrix", (at) => {
  let people: { admin: Person; stranger: Person };
  /** For requests that read or are all refused. */
  let ours: Records;
  let theirs: Records;
  /** Tables whose rows have a tenant. */
  let owned: string[];
  let counter = 0;
  const cache = new Map<string, Promise<Person>>();

  beforeAll(async () => {
    people = { admin: await at().tenant(OWN), stranger: await at().tenant(FOREIGN) };
    ours = await records(OWN, people.admin);
    theirs = await records(FOREIGN, people.stranger);
    const tables = await listTables(at().store.read);
    owned = tables
      .filter(({ columns }) => columns.some(({ name }) => name === "tenant_id"))
      .map(({ name }) => name);
  });

  /** Every row of the other tenant. */
  const dumpForeign = (): Promise<unknown> =>
    Promise.all(
      owned.map(async (name) => {
        const rows = await at()
          .store.read.selectFrom(name as "disputes")
          .selectAll()
          .where("tenant_id", "=", FOREIGN)
          .execute();
        const lines = rows.map((row) =>
          JSON.stringify(row, (key, value: unknown) => (LATE.has(key) ? 0 : value)),
        );
        return [name, lines.toSorted()];
      }),
    );

  it("compares the rows of all tables that have tenants", () => {
    expect(owned.length).toBeGreaterThan(10);
  });

  /** The other tenant's rows before the tests that may not change them. */
  let foreign: unknown;

  const fresh = (): string => `fresh-${(counter += 1)}`;

  const records = async (tenantId: string, owner: Person): Promise<Records> => {
    const admin = tenantId === OWN ? people.admin : people.stranger;
    const auditor = await at().exportCaller(tenantId, ["audit:read"]);
    const ingester = await at().exportCaller(tenantId, ["ingest:write"]);
    const exporter = await at().exportCaller(tenantId, ["export:read", "export:manage"]);
    const callers = { auditor, ingester, exporter };
    const connectionId = await connectionOf(at().store, tenantId);
    const keyId = await keyOf(owner);
    const { store } = at();
    return seed({ admin, tenantId, keyId, ...callers, connectionId, store, mark: fresh() });
  };

  const keys = new Map<string, string>();

  /** An API key of the person's own, one for all their records. */
  const keyOf = async (owner: Person): Promise<string> => {
    const known = keys.get(owner.userId);
    if (known !== undefined) return known;
    const path = "/authentication/v1/tenants/{t}/users/profile/api-key";
    const made = await owner.call("POST", path);
    expect(made.status, made.text).toBe(201);
    keys.set(owner.userId, made.body.keyId);
    return made.body.keyId;
  };

  /** One person of the tenant for each set of rights. */
  const whoMay = (grants: Permission[]): Promise<Person> => {
    const key = grants.join();
    const person = cache.get(key) ?? at().person(OWN, { grants });
    cache.set(key, person);
    return person;
  };

  let elsewhere: Promise<Person> | undefined;

  /** A member of the tenant without any right in it, who administers the other one. */
  const whoMayElsewhere = (): Promise<Person> => {
    elsewhere ??= (async () => {
      const person = await at().person(OWN, { grants: [] });
      const needs = { store: at().store, clock: at().clock, newId: randomId };
      const names = { email: person.email, firstName: "Pat", lastName: "Both" };
      const made = { ...names, tenantId: FOREIGN, roles: ["Administrator"] };
      await createUser(needs, made, () => Promise.reject(new Error("the user exists")));
      return person;
    })();
    return elsewhere;
  };

  const holder = async (operation: Operation): Promise<{ call: Caller; owner: Person }> => {
    const { access } = operation;
    if (access === "public") return { call: at().call, owner: people.admin };
    if (isScope(access)) {
      return { call: await at().exportCaller(OWN, [access]), owner: people.admin };
    }
    const owner = await whoMay(isPermission(access) ? [access] : []);
    return { call: owner.call, owner };
  };

  const send = (
    call: Caller,
    operation: Operation,
    args: Arguments,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const { method, path, body } = wire(operation, sendable(operation), args);
    return call(method, path, { headers, ...(body === undefined ? {} : { body }) });
  };

  /** Sends a request, and returns the entries that it adds to the own tenant's audit log too. */
  const sendLogged = async (...request: Parameters<typeof send>) => {
    const { read } = at().store;
    const head = await read
      .selectFrom("audit_heads")
      .select("seq")
      .where("tenant_id", "=", OWN)
      .executeTakeFirstOrThrow();
    const reply = await send(...request);
    const entries = (await rowsOf(read, OWN, head.seq)).map((row) => ({
      endpoint: row.endpoint,
      status: row.status_code,
      metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    }));
    return { reply, entries };
  };

  /** The one entry of a request that is logged. */
  const entryOf = (operation: Operation, reply: Reply, { userId }: Pick<Person, "userId">) => ({
    endpoint: formatEndpoint(operation),
    status: reply.status,
    metadata: expect.objectContaining({
      actor: operation.service === "gateway" ? userId : expect.any(String),
    }),
  });

  describe.each(byId(operations))("%s", (id, operation) => {
    const samples = SAMPLES[id] ?? [];
    const argumentsIn = (given: Records, variant = 0, word = fresh()): Arguments => ({
      tenantId: given.tenantId,
      ...samples[variant]?.(given, word),
    });

    verifies("CONV-08", "OP-01", "OP-03", "AU-01", "D-CONF-11", "C-82");
    it("succeeds with exactly what it asks for, answers as declared, and is logged once", async () => {
      const { call, owner } = await holder(operation);
      const isReading = operation.effect === "read";
      const own = isReading ? { ...ours, keyId: await keyOf(owner) } : await records(OWN, owner);
      const { reply, entries } = await sendLogged(call, operation, argumentsIn(own));
      expect(entries).toEqual(isLogged(operation) ? [entryOf(operation, reply, owner)] : []);
      if (isLogged(operation) && isChange(operation)) {
        expect(JSON.stringify(own) + reply.text).toContain(entries[0]?.metadata["resourceId"]);
      }
      const headers = { "X-Platform-Mcp-Tool": "disputes_list" };
      const again = await sendLogged(call, operation, argumentsIn(own), headers);
      expect(again.entries.map(({ metadata }) => metadata["mcpTool"])).toEqual(
        hasTenant(operation) ? ["disputes_list"] : [],
      );
      // The upsert creates its record.
      expect(reply.status, reply.text).toBe(operation.upsert ? 201 : operation.status);
      expect(reply.text).not.toContain(FOREIGN);
      if (operation.file) return expect(reply.text).toContain(OWN);
      if (operation.output === null) return expect(reply.text).toBe("");
      // Parsing strips what the schema does not know, so equality finds both lack and excess.
      expect(operation.output.parse(reply.body)).toEqual(reply.body);
    });

    it("names the records of its samples by arguments that it has", () => {
      const names = [operation.params, operation.query, operation.body].flatMap((part) =>
        Object.keys(part?.shape ?? {}),
      );
      const used = samples.flatMap((sample) => Object.keys(sample(EMPTY_RECORDS, "")));
      expect(used.filter((name) => !names.includes(name))).toEqual([]);
    });
  });

  describe.each(permitted)("%s", (_id, operation) => {
    verifies("CONV-08", "AUTH-06", "C-42");
    it("refuses a caller with every right except its own", async () => {
      const others = PERMISSIONS.filter((permission) => permission !== operation.access);
      const { call } = await whoMay([...others]);
      for (const route of routesOf(operation)) {
        const { method, path, body } = wire(operation, route, anythingIn(OWN));
        const reply = await call(method, path, body === undefined ? {} : { body });
        expect(reply.status, path).toBe(403);
        expect(reply.body.code).toBe("forbidden_permission");
        expect(reply.body.detail).toContain(operation.access);
      }
    });

    verifies("CONV-08", "OP-01", "D-AUD-2");
    it("refuses a caller with the right in another tenant only, and logs that", async () => {
      const person = await whoMayElsewhere();
      const { reply, entries } = await sendLogged(person.call, operation, anythingIn(OWN));
      expect(entries).toEqual(isLogged(operation) ? [entryOf(operation, reply, person)] : []);
      expect(reply.status, reply.text).toBe(403);
      expect(reply.body.code).toBe("forbidden_permission");
    });
  });

  describe.each(scoped)("%s", (_id, operation) => {
    verifies("C-42");
    it("is refused to a key that has every scope but its own", async () => {
      const others = SCOPES.filter((scope: Scope) => scope !== operation.access);
      const reply = await send(await at().exportCaller(OWN, others), operation, anythingIn(OWN));
      expect(reply.status).toBe(403);
      const { error } = reply.body;
      const word = operation.service === "export" ? error.code : error;
      expect(word).toBe(operation.service === "export" ? "FORBIDDEN" : "forbidden");
      expect(operation.service === "export" ? error.message : reply.body.message).toContain(
        operation.access,
      );
    });
  });

  describe.each(tenanted)("%s", (_id, operation) => {
    verifies("CONV-07", "C-35");
    it("does not reveal whether an inaccessible tenant exists", async () => {
      const before = (foreign ??= await dumpForeign());
      const refusal = async (tenantId: string): Promise<Reply> => {
        const sample = SAMPLES[operation.id]?.[0]?.(theirs, fresh());
        const { method, path, body } = wire(operation, sendable(operation), {
          ...sample,
          tenantId,
        });
        const headers = { "X-Request-Id": "same" };
        return people.admin.call(method, path, {
          headers,
          ...(body === undefined ? {} : { body }),
        });
      };
      const existing = await refusal(FOREIGN);
      const missing = await refusal("no-such-tenant");
      expect(existing.status, existing.text).toBe(403);
      expect(existing.body.code).toBe("forbidden_tenant");
      expect(existing.text.replaceAll(FOREIGN, "T")).toBe(
        missing.text.replaceAll("no-such-tenant", "T"),
      );
      expect([...existing.headers]).toEqual([...missing.headers]);
      expect(await dumpForeign()).toEqual(before);
    });
  });

  describe.each(guarded)("%s", (id, operation) => {
    verifies("CONV-06", "T-22", "C-35", "C-36");
    it("finds no record of another tenant under the own path, and changes none", async () => {
      const before = (foreign ??= await dumpForeign());
      const call = isScope(operation.access) ? await at().exportCaller(OWN) : people.admin.call;
      for (const [index, sample] of (SAMPLES[id] ?? []).entries()) {
        const word = fresh();
        const own = { ...sample(ours, word), tenantId: OWN };
        const foreign: Arguments = sample(theirs, word);
        const referring = Object.keys(foreign).filter(
          (name) => JSON.stringify(foreign[name]) !== JSON.stringify(sample(ours, word)[name]),
        );
        const named = parsePathParameters(operation.path).filter(
          (name) => name !== "tenantId" && !isNewName(operation, name),
        );
        expect(referring).toEqual(expect.arrayContaining(named));
        // The first sample may name nothing; a further one is there for what it names.
        expect(referring.length).toBeGreaterThanOrEqual(index === 0 ? 0 : 1);
        for (const names of subsets(referring)) {
          const mixed = {
            ...own,
            ...Object.fromEntries(names.map((name) => [name, foreign[name]])),
          };
          const reply = await send(call, operation, mixed);
          const where = `${names.join()}: ${reply.status} ${reply.text}`;
          expect(reply.text, where).not.toContain(FOREIGN);
          expect(isNothing(operation, names, reply), where).toBe(true);
        }
      }
      expect(await dumpForeign()).toEqual(before);
    });
  });

  describe.each(guarded)("%s", (_id, operation) => {
    it("answers 401 without a credential, and with a made-up one, on each of its routes", async () => {
      // An address may fail so often in a minute; sessions that this wait ends are needed no more.
      at().clock.advance(MINUTE);
      for (const route of routesOf(operation)) {
        const { method, path, body } = wire(operation, route, anythingIn(OWN));
        const sent = body === undefined ? {} : { body };
        const madeUp = {
          "X-Platform-Auth": "x",
          "X-Platform-Api-Key": "rcvg_x",
          "X-API-Key": "rcvx_x",
        };
        const without = await at().call(method, path, sent);
        expect(without.status, path).toBe(401);
        expect(without.headers.get("WWW-Authenticate")).not.toBeNull();
        expect((await at().call(method, path, { ...sent, headers: madeUp })).status).toBe(401);
      }
    });
  });

  it("leaves no operation out", () => {
    expect(Object.keys(SAMPLES).toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
  });
});

// Of an account that is not known there are simply no disputes.
const NO_RECORD = new Set(["accountNumber"]);

/** Whether an argument in the path names what the operation makes. */
const isNewName = ({ effect, upsert, path }: Operation, name: string): boolean =>
  (effect === "create" || upsert) && path.endsWith(`/{${name}}`);

/** In a query, and yet the one record that is asked for. */
const ASKED_FOR = "runId";

/** Whether a request without a tool's name has an audit entry. */
const isLogged = (operation: Operation): boolean =>
  hasTenant(operation) && (operation.service === "export" || operation.effect !== "read");

/** A session that does not exist is closed in the samples, so its tenant is not known; nor is that of the schema. */
const hasTenant = ({ access, session }: Operation): boolean =>
  access !== "public" || session === "opens" || session === "verifies";

const isChange = ({ effect }: Operation): boolean => effect === "create" || effect === "change";

const isNothing = (operation: Operation, names: readonly string[], reply: Reply): boolean => {
  const inPath = parsePathParameters(operation.path).filter((name) => !NO_RECORD.has(name));
  const naming = [...inPath, ASKED_FOR];
  if (names.some((name) => naming.includes(name))) return reply.status === 404;
  // In a body it is a wrong value like any other, found before anything is written.
  if (reply.status === 400) return true;
  const { body } = reply;
  const rows: unknown = Array.isArray(body) ? body : (body.data ?? body.items);
  return (
    operation.effect === "read" && reply.status === 200 && Array.isArray(rows) && rows.length === 0
  );
};

/** Arguments of a tenant that name nothing. */
const anythingIn = (tenantId: string): Arguments =>
  new Proxy<Arguments>({ tenantId }, { get: (own, name) => own[String(name)] ?? "x" });

/** Lets a sample name its arguments without any record. */
const EMPTY_RECORDS = new Proxy({}, { get: () => ({}) }) as Records;

// When a credential was last used is written a moment later, at the seeding's own requests.
const LATE = new Set(["used_at"]);
