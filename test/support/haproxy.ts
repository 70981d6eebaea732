import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readExample } from "./manual.ts";
import { type Proxy, type Upstream, waitForPort } from "./nginx.ts";
import { findProgram } from "./programs.ts";

const haproxy = findProgram("haproxy");

export const HAS_HAPROXY = haproxy !== undefined;

/** Starts Debian's HAProxy as a process of the test. */
const start = async (folder: string, config: string, ports: number[]): Promise<Proxy> => {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "haproxy.cfg");
  await writeFile(path, `global\n  log stdout format raw local0\n${config}`);
  const child = spawn(haproxy ?? "haproxy", ["-db", "-f", path], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const closed = once(child, "exit");
  for (const port of ports) await waitForPort(port, () => child.exitCode !== null);
  return {
    log: async () => output,
    async end() {
      child.kill("SIGKILL");
      await closed;
    },
  };
};

/** Starts it in front of nodes, with the settings of docs/operations.md. */
export const startHaproxy = async (
  folder: string,
  upstreams: readonly Upstream[],
): Promise<Proxy> => {
  const [defaults = "", section = ""] = readExample("haproxy", "/ready").split("listen ");
  const sections = upstreams.map(({ name, port, nodes }) =>
    section
      .replace(/^.*/, `listen ${name}`)
      .replace(/bind .*/, `bind 127.0.0.1:${port}`)
      .replaceAll(/10\.0\.0\.(\d):8080/g, (_, place) => `127.0.0.1:${nodes[Number(place) - 1]}`),
  );
  const ports = upstreams.map(({ port }) => port);
  return start(folder, [defaults, ...sections].join("\n"), ports);
};

/** Starts it in front of the servers of a database; `adapt` sets their addresses. */
export const startDatabaseHaproxy = async (
  folder: string,
  port: number,
  adapt: (text: string) => string,
): Promise<Proxy> => {
  const config = readExample("haproxy", "/primary").replace("127.0.0.1:5000", `127.0.0.1:${port}`);
  return start(folder, adapt(config), [port]);
};
