import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

const VERSIONS = "/usr/lib/postgresql";

const newest = (): string | undefined =>
  existsSync(VERSIONS)
    ? readdirSync(VERSIONS)
        .toSorted((one, other) => Number(one) - Number(other))
        .map((version) => join(VERSIONS, version, "bin"))
        .findLast((bin) => ["initdb", "pg_dump"].every((name) => existsSync(join(bin, name))))
    : undefined;

/** The folder of a server and its tools of one version; undefined where Debian's package is not installed. */
export const POSTGRES_TOOLS = newest();

/** Starts a server of Debian's package, whose tools have its version. The server refuses to run as root. */
export const startDebianPostgres = async (bin: string) => {
  const folder = mkdtempSync(join(tmpdir(), "debian-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync("chown", ["postgres", folder]);
  const run = (program: string, ...args: string[]): void => {
    const line = [join(bin, program), ...args];
    const [command = "", ...rest] = isRoot ? ["runuser", "-u", "postgres", "--", ...line] : line;
    execFileSync(command, rest, { cwd: "/", stdio: "ignore" });
  };
  const data = join(folder, "data");
  run("initdb", "-D", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C");
  const port = await freePort();
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
  run("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "-o", options, "start");
  return {
    urlOf: (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    create: (database: string) =>
      run("createdb", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres", database),
    stop() {
      run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      rmSync(folder, { recursive: true });
    },
  };
};
