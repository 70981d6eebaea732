import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomId } from "../../src/kit/ids.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { HAS_PGBOUNCER, startPgBouncer } from "../support/pgbouncer.ts";
import { administer, startPostgres } from "../support/postgres.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type FakeS3, S3_ENVIRONMENT, startFakeS3 } from "../support/s3/server.ts";
import { BUCKET } from "../support/s3/objects.ts";
import { REGION } from "../support/s3/signature.ts";
import { signingIn } from "../support/signing.ts";
import { type Server, startServer } from "./server.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

export const SOAK_TENANT = "soaked";
export const MCP_TOKEN = `token-of-a-host-${"x".repeat(40)}`;
export const LOGIN = { email: "ann@soaked.example", password: "correct horse battery staple" };

/** Two platform nodes and an MCP node on one database behind PgBouncer, with files on S3. */
export type SoakCluster = {
  /** The database without PgBouncer, for checks. */
  openStore(): Promise<Store>;
  platforms: Server[];
  mcp: Server;
  s3: FakeS3;
  receiver: Receiver;
  apiKey: string;
  /** Ends a node as the power would, and starts it again: 0 and 1 are platforms, 2 is the MCP node. */
  kill(node: number): Promise<void>;
  restartDatabase(): Promise<void>;
  crashDatabase(): Promise<void>;
  restartPooler(): Promise<void>;
  hasPooler: boolean;
  /** Has the database's tables; undefined where this process may not mount. */
  disk: SmallDisk | undefined;
  /** Sets the wall clock of a node forward or back by milliseconds, from the machine's. */
  setClock(node: number, ms: number): Promise<void>;
  close(): Promise<void>;
};

const CONNECTIONS = 16;

const found = async (store: Store): Promise<string> => {
  const needs = { store, clock: systemClock, newId: randomId };
  await createTenant(needs, { tenantId: SOAK_TENANT, name: "Soaked" });
  const who = { tenantId: SOAK_TENANT, email: LOGIN.email, firstName: "Ann", lastName: "Lee" };
  await createUser(needs, { ...who, roles: ["Administrator"] }, async () => LOGIN.password);
  return (await issueKey(needs, { tenantId: SOAK_TENANT, name: "all" })).apiKey;
};

/** PgBouncer where the machine has it, else the database itself. */
const startPooler = async (folder: string, databaseUrl: string) => {
  if (!HAS_PGBOUNCER) return { url: databaseUrl, restart: async () => {}, end: async () => {} };
  let pooler = await startPgBouncer(folder, databaseUrl);
  const port = Number(new URL(pooler.url).port);
  return {
    url: pooler.url,
    async restart() {
      await pooler.end();
      pooler = await startPgBouncer(folder, databaseUrl, port);
    },
    end: () => pooler.end(),
  };
};

const TABLES = { database: "soak", tablespace: "small" };

/** Creates the database on a disk of its own, so that this disk can be full. */
const createOn = async (disk: SmallDisk | undefined, url: string): Promise<string> => {
  const { database, tablespace } = TABLES;
  if (disk === undefined) {
    await administer(url, `create database ${database}`);
  } else {
    const location = join(disk.folder, "tables");
    await mkdir(location, { mode: 0o700 });
    // The server runs as its own user when the tests run as root, as whom alone they may mount.
    execFileSync("chown", ["postgres", location]);
    await administer(url, `create tablespace ${tablespace} location '${location}'`);
    await administer(url, `create database ${database} tablespace ${tablespace}`);
  }
  return new URL(database, url).href;
};

const SHIFTED_CLOCK = new URL("shifted-clock.ts", import.meta.url).href;

/** Starts the cluster for a soak of so many minutes. */
export const startSoakCluster = async (minutes: number): Promise<SoakCluster> => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  const [postgres, s3, receiver] = await Promise.all([
    startPostgres(["max_connections=100"]),
    startFakeS3(),
    startReceiver(),
  ]);
  const disk = mountSmallDisk(join(folder, "disk"), 96 + 32 * Math.ceil(minutes));
  await chmod(folder, 0o755);
  const databaseUrl = await createOn(disk, postgres.url);
  const pooler = await startPooler(join(folder, "pgbouncer"), databaseUrl);
  const keys = join(folder, "keys");
  await mkdir(keys);
  const tokens = join(folder, "tokens");
  await writeFile(tokens, `${MCP_TOKEN} default read,write,admin\n`, { mode: 0o600 });
  const openStore = () => openPostgres(databaseUrl, signingIn(keys));
  const store = await openStore();
  const apiKey = await found(store);
  await store.close();
  const shared = {
    ...S3_ENVIRONMENT,
    RECEIVABLES_SECRET_KEY_FILE: join(keys, "secret.key"),
    RECEIVABLES_RATE_MINUTE: "0",
    RECEIVABLES_RATE_HOUR: "0",
    RECEIVABLES_TOOLS_RATE_MINUTE: "0",
    DATABASE_URL: pooler.url,
    RECEIVABLES_FILES_URL: `s3://${BUCKET}/soak?endpoint=${encodeURIComponent(s3.url)}&region=${REGION}`,
    RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.0/8",
    RECEIVABLES_WEBHOOK_DELAYS_SECONDS: "0,0,0,0",
  };
  const clockOf = (node: number): string => join(folder, `clock-${node}`);
  const startNode = (node: number): Promise<Server> => {
    const env = {
      ...shared,
      RECEIVABLES_DATA: join(folder, `node-${node}`),
      NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`,
      SHIFTED_CLOCK_FILE: clockOf(node),
    };
    if (node < 2) return startServer(env, CONNECTIONS);
    const person = { RECEIVABLES_EMAIL: LOGIN.email, RECEIVABLES_PASSWORD: LOGIN.password };
    const own = { ...person, RECEIVABLES_TENANT_ID: SOAK_TENANT, RECEIVABLES_EXT_API_KEY: apiKey };
    const gate = { RECEIVABLES_HTTP_AUTH: "static", RECEIVABLES_HTTP_TOKENS_FILE: tokens };
    return startServer({ ...env, ...own, ...gate }, CONNECTIONS, "http");
  };
  const platforms = await Promise.all([startNode(0), startNode(1)]);
  const cluster: SoakCluster = {
    openStore,
    platforms,
    mcp: await startNode(2),
    s3,
    receiver,
    apiKey,
    async kill(node) {
      await (platforms[node] ?? cluster.mcp).kill();
      const next = await startNode(node);
      if (node < 2) platforms[node] = next;
      else cluster.mcp = next;
    },
    restartDatabase: () => postgres.restart(),
    crashDatabase: () => postgres.crash(),
    hasPooler: HAS_PGBOUNCER,
    restartPooler: () => pooler.restart(),
    disk,
    setClock: (node, ms) => writeFile(clockOf(node), String(ms)),
    async close() {
      await Promise.all([...platforms, cluster.mcp].map((node) => node.stop()));
      await pooler.end();
      await postgres.stop();
      disk?.remove();
      await s3.stop();
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return cluster;
};
