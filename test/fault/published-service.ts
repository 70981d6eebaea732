import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { type Running, startCli, UNLIMITED, whenReady } from "../support/cli.ts";
import { PROBED } from "../support/memory.ts";
import { connectionOf } from "../support/pdf.ts";
import { type Caller, parseJson, type Person, type Reply, type Sent } from "../support/platform.ts";
import { type Records, seed } from "../support/records.ts";
import type { Database, Dialect } from "../support/stores.ts";

export const TENANT = "careful";
export const MCP_TOKEN = `token-of-a-host-${"x".repeat(40)}`;
/** A request that has no response after this time counts as hanging. */
const DEADLINE_MS = 20_000;
const EMAIL = "ann@careful.example";
const PASSWORD = "correct horse battery staple";
const API_KEY = `/authentication/v1/tenants/${TENANT}/users/profile/api-key`;

/** Platform and MCP server as one process, and connections to it. */
export type PublishedService = {
  running: Running;
  /** The records of the process, opened by the test. */
  store: Store;
  url: string;
  mcpUrl: string;
  /** The settings of the process, for another one over the same records. */
  env: Record<string, string>;
  /** Valid credentials by header. */
  credentials: Record<string, string>;
  ask(method: string, path: string, sent?: Sent): Promise<Reply>;
  /** Adds new records of every kind. */
  reseed(): Promise<Records>;
  close(): Promise<void>;
};

const asker =
  (pool: Pool): PublishedService["ask"] =>
  async (method, path, { body, raw, headers = {} } = {}) => {
    const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = text === undefined ? {} : { "Content-Type": "application/json" };
    const reply = await pool.request({
      method,
      path,
      headers: { ...type, ...headers },
      body: text ?? null,
    });
    const answer = await reply.body.text();
    const found = Object.entries(reply.headers).flatMap(([name, value = ""]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    );
    return {
      status: reply.statusCode,
      headers: new Headers(found),
      text: answer,
      body: parseJson(answer),
    };
  };

const found = async (store: Store): Promise<string> => {
  const needs = { store, clock: systemClock, newId: randomId };
  await createTenant(needs, { tenantId: TENANT, name: TENANT });
  const who = { tenantId: TENANT, email: EMAIL, firstName: "Ann", lastName: "Lee" };
  await createUser(needs, { ...who, roles: ["Administrator"] }, async () => PASSWORD);
  return (await issueKey(needs, { tenantId: TENANT, name: "all" })).apiKey;
};

const environmentOf = async (database: Database, folder: string, exportKey: string) => {
  const tokens = join(folder, "tokens");
  await writeFile(tokens, `${MCP_TOKEN} default read,write,admin\n`, { mode: 0o600 });
  return {
    ...UNLIMITED,
    ...PROBED,
    ...database.environment,
    RECEIVABLES_LOG: "warn",
    RECEIVABLES_HTTP_AUTH: "static",
    RECEIVABLES_HTTP_TOKENS_FILE: tokens,
    RECEIVABLES_TENANT_ID: TENANT,
    RECEIVABLES_EMAIL: EMAIL,
    RECEIVABLES_PASSWORD: PASSWORD,
    RECEIVABLES_EXT_API_KEY: exportKey,
  };
};

/** The session and a way to make records with it. */
const signIn = async (ask: PublishedService["ask"], store: Store, exportKey: string) => {
  const login = { body: { email: EMAIL, password: PASSWORD } };
  const { accessToken: token, userId } = (await ask("POST", "/authentication/v1/login", login))
    .body;
  const credentials = { "X-Platform-Auth": token, "X-API-Key": exportKey };
  const caller =
    (headers: Record<string, string>): Caller =>
    (method, path, sent = {}) =>
      ask(method, path.replace("{t}", TENANT), {
        ...sent,
        headers: { ...headers, ...sent.headers },
      });
  const call = caller({ "X-Platform-Auth": token });
  const admin: Person = { email: EMAIL, password: PASSWORD, userId, token, call };
  const auditor = caller({ "X-API-Key": exportKey });
  let seeded = 0;
  const reseed = async (): Promise<Records> => {
    seeded += 1;
    await store.transaction((tx) => tx.deleteFrom("api_keys").execute());
    const { keyId } = (await call("POST", API_KEY)).body;
    return seed({
      admin,
      tenantId: TENANT,
      keyId,
      auditor,
      ingester: auditor,
      exporter: auditor,
      connectionId: await connectionOf(store, TENANT),
      store,
      mark: `seed-${seeded}`,
    });
  };
  return { credentials, reseed };
};

export const startPublishedService = async (dialect: Dialect): Promise<PublishedService> => {
  const folder = await mkdtemp(join(tmpdir(), "published-"));
  const database = await dialect.createMigrated();
  const store = await database.open();
  const exportKey = await found(store);
  const env = await environmentOf(database, folder, exportKey);
  const running = startCli(["http", "--port", "0"], env);
  const { baseUrl, mcpUrl = "" } = await whenReady(running);
  const times = { headersTimeout: DEADLINE_MS, bodyTimeout: DEADLINE_MS };
  const pool = new Pool(baseUrl, { connections: 4, pipelining: 1, ...times });
  const ask = asker(pool);
  return {
    running,
    store,
    url: baseUrl,
    mcpUrl,
    env,
    ask,
    ...(await signIn(ask, store, exportKey)),
    async close() {
      await pool.destroy();
      await running.end("SIGTERM");
      await store.close();
      await database.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
