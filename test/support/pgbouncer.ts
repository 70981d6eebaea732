import { spawn } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { waitForPort } from "./nginx.ts";
import { findProgram } from "./programs.ts";
import { freePort } from "./free-port.ts";

const pgbouncer = findProgram("pgbouncer");

export const HAS_PGBOUNCER = pgbouncer !== undefined;

export type Pooler = { url: string; end(): Promise<void> };

/** Starts Debian's PgBouncer in transaction mode in front of a database. */
export const startPgBouncer = async (
  folder: string,
  databaseUrl: string,
  listenPort?: number,
): Promise<Pooler> => {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const own = listenPort ?? (await freePort());
  await mkdir(folder, { recursive: true });
  const path = join(folder, "pgbouncer.ini");
  await writeFile(
    path,
    `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 500
server_login_retry = 1
`,
  );
  // It refuses to run as root, and its user must be able to read the file.
  await chmod(folder, 0o755);
  await chmod(path, 0o644);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(pgbouncer ?? "pgbouncer", [...(isRoot ? ["-u", "nobody"] : []), path], {
    stdio: "ignore",
  });
  const closed = once(child, "exit");
  await waitForPort(own, () => child.exitCode !== null);
  return {
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    async end() {
      child.kill("SIGTERM");
      await closed;
    },
  };
};
