import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import type { Permission } from "../../src/contract/permissions.ts";
import { DAY, SECOND } from "../../src/kit/clock.ts";
import type { NewId } from "../../src/kit/ids.ts";
import { createLazy } from "../../src/kit/lazily.ts";
import { createLog } from "../../src/kit/log.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createRole } from "../../src/platform/admin/roles.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { insertUser } from "../../src/platform/admin/users.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { hashPassword } from "../../src/platform/passwords.ts";
import { createPlatform, type Platform, type PlatformNeeds } from "../../src/platform/platform.ts";
import type { OauthStore } from "../../src/records/port.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { createScanner } from "../../src/platform/clamd/scanner.ts";
import { type FakeClock, fakeClock } from "./clock.ts";
import { type Dialect, dialects } from "./stores.ts";

export const LIFETIMES = {
  sessionIdle: 900 * SECOND,
  sessionNominal: 3600 * SECOND,
  sessionLongest: 43_200 * SECOND,
  keyInactivity: 365 * DAY,
};

export const RETENTION = { auditLogs: 400 * DAY, exportRuns: 30 * DAY };

/** Most tests ask more than a person would; those of the limits set their own. */
const NO_LIMITS = {
  gatewayPerMinute: 0,
  loginPerMinute: 0,
  visitorPerMinute: 0,
  exportPerMinute: 0,
  exportPerHour: 0,
};

/** Every name is a host of the internet, and nothing of it is reached. */
export const WEBHOOKS: PlatformNeeds["webhooks"] = {
  hosts: { resolve: async () => ["93.184.215.14"], allowed: createNetworks([]) },
  delaysMs: [30 * SECOND, 60 * SECOND, 120 * SECOND, 300 * SECOND],
};

/** A loopback address whose X-Forwarded-For tests have believed. */
export const TRUSTED_PROXY = "127.0.0.9";

export const MASTER_KEY = Buffer.alloc(32, 7);

/** Settings of signed URLs. */
export const TRANSFERS = {
  urlLives: { upload: 900 * SECOND, download: 3600 * SECOND },
  publicUrl: undefined,
  ownUrl: async () => "http://platform.test",
};

export type Reply = {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies freely
  body: any;
};

export type Sent = {
  body?: unknown;
  /** Body text as it is, instead of `body` as JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
};

export type Caller = (method: string, path: string, sent?: Sent) => Promise<Reply>;

export type Person = {
  email: string;
  password: string;
  userId: string;
  token: string;
  /** Calls with the person's own session, renewed when it has expired; `{t}` in a path is the tenant. */
  call: Caller;
};

export type TestPlatform = {
  store: Store;
  /** Opens the built-in sign-in's store beside the platform's, once. */
  oauthStore(): Promise<OauthStore>;
  clock: FakeClock;
  platform: Platform;
  dialect: Dialect["name"];
  /** The lines of the platform's log, warnings and errors alone. */
  logged: string[];
  /** All lines of the platform's log from level `info` on. */
  lines: string[];
  /** The folder of uploaded files. */
  files: string;
  /** Calls without a credential. */
  call: Caller;
  /** A tenant and its administrator. */
  tenant(id: string): Promise<Person>;
  /** One more user of a tenant, with built-in roles by name or a role of exactly these grants. */
  person(tenantId: string, may: { roles?: string[]; grants?: Permission[] }): Promise<Person>;
  /** Calls with an export key of the tenant. */
  exportCaller(tenantId: string, scopes?: string[]): Promise<Caller>;
  close(): Promise<void>;
};

/** Returns the value of a JSON text, or undefined for other texts. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

type Fetch = (request: Request) => Response | Promise<Response>;

/** Creates a caller of the platform at an origin, for a tenant and with the headers of a credential. */
export const createCaller =
  (send: Fetch, origin: string, tenantId: string, credential: Record<string, string>): Caller =>
  async (method, path, sent = {}) => {
    const text = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const response = await send(
      new Request(origin + path.replace("{t}", tenantId), {
        method,
        headers: {
          ...(text === undefined ? {} : { "Content-Type": "application/json" }),
          ...credential,
          ...sent.headers,
        },
        ...(text === undefined ? {} : { body: text }),
      }),
    );
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: parseJson(answer),
    };
  };

const callerOf = (platform: Platform, tenantId: string, credential: Record<string, string>) =>
  createCaller(platform.fetch, "http://platform.test", tenantId, credential);

/** Ids in the order of their making, so that two runs of the same requests can be compared. */
const countedIds = (): NewId => {
  let made = 0;
  return () => {
    made += 1;
    return `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`;
  };
};

const PASSWORD = "correct horse battery staple";
/** Of the least cost, because the tests log in thousands of times. */
const hashOnce = createLazy(() => hashPassword(PASSWORD, { memoryKib: 8, passes: 1 }));

/** The replaced defaults of a test's platform. */
type Different = Partial<
  Pick<
    PlatformNeeds,
    "auditReads" | "files" | "lifetimes" | "publicUrl" | "scanner" | "tenantFileBytes" | "webhooks"
  >
> & { limits?: Partial<typeof NO_LIMITS> };

/** A platform over a real store, with a clock that the test moves. */
export const startPlatform = async (
  dialect: Pick<Dialect, "name" | "createMigrated"> = dialects[0] as Dialect,
  { limits, ...different }: Different = {},
): Promise<TestPlatform> => {
  const database = await dialect.createMigrated();
  const store = await database.open();
  const clock = fakeClock();
  const files = join(database.environment["RECEIVABLES_DATA"] ?? "", "files");
  const needs = { store, clock, newId: countedIds() };
  const logged: string[] = [];
  const lines: string[] = [];
  const platform = createPlatform({
    ...needs,
    files: createDiskFiles(files),
    log: createLog("info", (line) => {
      lines.push(line);
      if (!line.includes('"level":"info"')) logged.push(line);
    }),
    masterKey: MASTER_KEY,
    ...TRANSFERS,
    scanner: createScanner(),
    tenantFileBytes: Number.MAX_SAFE_INTEGER,
    lifetimes: LIFETIMES,
    limits: { ...NO_LIMITS, ...limits },
    auditReads: "mcp",
    retention: RETENTION,
    trustedProxies: ["10.0.0.0/8", TRUSTED_PROXY],
    webhooks: WEBHOOKS,
    headerWord: "Platform",
    version: "1.2.3",
    ...different,
  });
  const call = callerOf(platform, "", {});
  let people = 0;
  const person: TestPlatform["person"] = async (tenantId, { roles = [], grants }) => {
    people += 1;
    const email = `person${people}@${tenantId}.example`;
    const names = [...roles];
    if (grants !== undefined) {
      const role = await createRole(needs, { tenantId, name: `role ${people}`, grants });
      names.push(role.name);
    }
    const made = { tenantId, email, firstName: "Pat", lastName: `Person ${people}`, roles: names };
    const hash = await hashOnce();
    await store.transaction((tx) => insertUser(tx, needs, made, hash));
    const login = async () =>
      (
        await call("POST", "/authentication/v1/login", {
          body: { email, password: PASSWORD },
        })
      ).body;
    const first = await login();
    let current = callerOf(platform, tenantId, { "X-Platform-Auth": first.accessToken });
    return {
      email,
      password: PASSWORD,
      userId: first.userId,
      token: first.accessToken,
      // Tests move the clock for reasons of their own; a person would simply log in again.
      async call(method, path, sent) {
        const reply = await current(method, path, sent);
        if (reply.body?.code !== "token_expired") return reply;
        const { accessToken } = await login();
        current = callerOf(platform, tenantId, { "X-Platform-Auth": accessToken });
        return current(method, path, sent);
      },
    };
  };
  let openedOauth: OauthStore | undefined;
  const oauthStore = createLazy(async () => {
    openedOauth = await database.openOauth();
    return openedOauth;
  });
  return {
    store,
    oauthStore,
    clock,
    platform,
    dialect: dialect.name,
    logged,
    lines,
    files,
    call,
    async tenant(id) {
      await createTenant(needs, { tenantId: id, name: `Tenant ${id}` });
      return person(id, { roles: ["Administrator"] });
    },
    person,
    async exportCaller(tenantId, scopes) {
      const key = await issueKey(needs, {
        tenantId,
        name: "test",
        ...(scopes === undefined ? {} : { scopes }),
      });
      return callerOf(platform, tenantId, { "X-API-Key": key.apiKey });
    },
    async close() {
      await platform.close();
      await openedOauth?.close();
      await store.close();
      await database.remove();
    },
  };
};

export const DISPUTES = "/dispute/v1/tenants/{t}/disputes";
export const CONFIGURATION = "/dispute/v1/tenants/{t}";

/** A category PRICE with a default internal and an external reason, a department and an active assignee. */
export const configure = async (admin: Person) => {
  const make = async (path: string, body: unknown) => {
    const made = await admin.call("POST", `${CONFIGURATION}${path}`, { body });
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`);
    return made.body;
  };
  const category = await make("/categories", { code: "PRICE", description: "Pricing" });
  const reason = await make("/reasons", {
    code: "WRONG",
    description: "Wrong price",
    categoryCode: "PRICE",
  });
  const externalReason = await make("/reasons", {
    code: "CUST-PRICE",
    description: "Customer says price differs",
    categoryCode: "PRICE",
    visibility: "External",
  });
  await admin.call("PUT", `${CONFIGURATION}/categories/${category.categoryId}`, {
    body: { defaultInternalReasonId: reason.reasonId },
  });
  const department = await make("/departments", { code: "SALES", description: "Sales" });
  const assignee = await make("/assignees", {
    departmentCode: "SALES",
    person: { firstName: "Ana", lastName: "Silva", email: "ana@sales.example" },
  });
  const resolution = await make("/resolutions", {
    code: "CREDIT",
    description: "Credit issued",
    isValid: true,
  });
  return { category, reason, externalReason, department, assignee, resolution };
};

/** The same tests on every store. */
export const onEveryStore = (
  title: string,
  tests: (at: () => TestPlatform) => void,
  different: Different = {},
): void => {
  for (const dialect of dialects) {
    describe(`${title} (${dialect.name})`, () => {
      let running: TestPlatform | undefined;
      beforeAll(async () => {
        running = await startPlatform(dialect, different);
      });
      afterAll(() => running?.close());
      tests(() => {
        if (running === undefined) throw new Error("the platform has not started");
        return running;
      });
    });
  }
};

/** Makes a tenant before the tests, and returns its administrator, whose fields have values from then on. */
export const useTenant = (at: () => TestPlatform, tenantId: string): Person => {
  const admin = {} as Person;
  beforeAll(async () => {
    Object.assign(admin, await at().tenant(tenantId));
  });
  return admin;
};

/** Calls with an export key of a tenant, which is issued at the first request. */
export const useExportCaller = (
  at: () => TestPlatform,
  tenantId: string,
  scopes?: string[],
): Caller => {
  const issue = createLazy(() => at().exportCaller(tenantId, scopes));
  return async (...request) => (await issue())(...request);
};
