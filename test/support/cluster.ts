import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli, type Running, startCli, UNLIMITED, whenReady } from "./cli.ts";
import { type Proxy, startNginx } from "./nginx.ts";
import { freePort } from "./free-port.ts";
import { type Database, type Dialect, dialects } from "./stores.ts";

export const TENANT = "acme";
export const PASSWORD = "correct horse battery staple";
export const EMAIL = "ann@acme.example";
export const TOKEN = `token-of-ann-${"x".repeat(40)}`;

type Env = Record<string, string>;

/** A node as a process on a port of its own, which can be stopped and started again. */
export type Node = {
  port: number;
  start(): Promise<void>;
  end(how: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  stderr(): string;
};

const createNode = (command: "platform" | "http", port: number, env: Env): Node => {
  let running: Running | undefined;
  let former = "";
  return {
    port,
    async start() {
      former += running?.texts.stderr ?? "";
      running = startCli([command, "--port", String(port)], env);
      await whenReady(running);
    },
    end: async (how) => (await running?.end(how))?.status ?? null,
    stderr: () => former + (running?.texts.stderr ?? ""),
  };
};

type ClusterDatabase = Pick<Database, "open" | "environment" | "remove">;

export type Cluster = {
  database: ClusterDatabase;
  /** Address of each group of nodes behind the proxy. */
  platformUrl: string;
  mcpUrl: string;
  signInUrl: string;
  platforms: Node[];
  servers: Node[];
  signIns: Node[];
  proxy: Proxy;
  env: Env;
  extApiKey: string;
  admin(line: readonly string[], input?: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
};

export type ClusterOptions = {
  /** A migrated database instead of one on the server of the run. */
  database?: ClusterDatabase;
  /** The URL by which the nodes reach the database, instead of its own; one of several for each node of a group. */
  reach?: (folder: string, databaseUrl: string) => Promise<string | readonly string[]>;
  /** Starts another proxy than nginx. */
  startProxy?: typeof startNginx;
  /** Whether MCP servers with the built-in sign-in run, too. */
  signIn?: boolean;
};

const [, postgres] = dialects as [Dialect, Dialect];

/** Starts two platforms and two MCP servers that share a database, a folder of files and the master key alone. */
export const startCluster = async (options: ClusterOptions = {}): Promise<Cluster> => {
  const folder = await mkdtemp(join(tmpdir(), "nodes-"));
  const database = options.database ?? (await postgres.createMigrated());
  const { DATABASE_URL: own = "", RECEIVABLES_DATA: data = "" } = database.environment;
  const databaseUrls = [(await options.reach?.(folder, own)) ?? own].flat();
  const databaseUrlOf = (place: number): string => databaseUrls[place % databaseUrls.length] ?? "";
  const shared: Env = {
    ...UNLIMITED,
    RECEIVABLES_LOG: "warn",
    DATABASE_URL: databaseUrlOf(0),
    RECEIVABLES_FILES_URL: join(folder, "files"),
    RECEIVABLES_SECRET_KEY_FILE: join(data, "secret.key"),
    RECEIVABLES_TRUSTED_PROXIES: "127.0.0.1/32",
    RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.1/32",
  };
  await mkdir(join(folder, "files"));
  const env = { ...shared, RECEIVABLES_DATA: join(folder, "admin") };
  const admin: Cluster["admin"] = async (line, input = "") => {
    const { status, stdout, stderr } = await runCli(["admin", ...line], env, input);
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  await admin(["tenant", "create", TENANT, "--name", "Acme"]);
  const person = ["--email", EMAIL, "--first-name", "Ann", "--last-name", "Lee"];
  await admin(
    ["user", "create", "--tenant", TENANT, ...person, "--role", "Administrator"],
    PASSWORD,
  );
  const key = await admin(["key", "issue", "--tenant", TENANT, "--name", "nodes"]);
  const extApiKey = String(key["apiKey"]);

  const ports = await Promise.all(Array.from({ length: 9 }, freePort));
  const [platformPort = 0, mcpPort = 0, signInPort = 0, ...nodePorts] = ports;
  const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const keys = { [TENANT]: { apiKey: extApiKey, roles: ["Administrator"] } };
  const server = { ...shared, RECEIVABLES_BASE_URL: urlOf(platformPort) };
  const group = (command: "platform" | "http", index: number, more: Env): Node[] =>
    [0, 1].map((place) => {
      const port = nodePorts[2 * index + place] ?? 0;
      return createNode(command, port, {
        ...more,
        DATABASE_URL: databaseUrlOf(place),
        RECEIVABLES_DATA: join(folder, `node-${port}`),
      });
    });
  const platforms = group("platform", 0, {
    ...shared,
    RECEIVABLES_PUBLIC_URL: urlOf(platformPort),
  });
  const servers = group("http", 1, {
    ...server,
    RECEIVABLES_PUBLIC_URL: urlOf(mcpPort),
    RECEIVABLES_HTTP_AUTH: "static",
    RECEIVABLES_HTTP_TOKENS_FILE: await write("tokens", `${TOKEN} default read,write,admin\n`),
    RECEIVABLES_TENANT_ID: TENANT,
    RECEIVABLES_EMAIL: EMAIL,
    RECEIVABLES_PASSWORD: PASSWORD,
    RECEIVABLES_EXT_API_KEY: extApiKey,
  });
  const signIns = group("http", 2, {
    ...server,
    RECEIVABLES_PUBLIC_URL: urlOf(signInPort),
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_OAUTH_REGISTRATION: "true",
    RECEIVABLES_EXT_API_KEYS_FILE: await write("keys.json", JSON.stringify(keys)),
  });
  const nodes = [...platforms, ...servers, ...(options.signIn === true ? signIns : [])];
  const proxy = await (options.startProxy ?? startNginx)(join(folder, "proxy"), [
    { name: "platform", port: platformPort, nodes: platforms.map(({ port }) => port) },
    { name: "mcp", port: mcpPort, nodes: servers.map(({ port }) => port) },
    { name: "signin", port: signInPort, nodes: signIns.map(({ port }) => port) },
  ]);
  await Promise.all(nodes.map((node) => node.start()));
  return {
    database,
    platformUrl: urlOf(platformPort),
    mcpUrl: `${urlOf(mcpPort)}/mcp`,
    signInUrl: `${urlOf(signInPort)}/mcp`,
    platforms,
    servers,
    signIns,
    proxy,
    env,
    extApiKey,
    admin,
    async close() {
      await Promise.all(nodes.map((node) => node.end("SIGTERM")));
      await proxy.end();
      await database.remove();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
