import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { accepts } from "./listen.ts";
import { findProgram } from "./programs.ts";

const nginx = findProgram("nginx");

export const HAS_NGINX = nginx !== undefined;

/** A port of the proxy, and the ports of the nodes behind it. */
export type Upstream = { name: string; port: number; nodes: readonly number[] };

export type Proxy = { log(): Promise<string>; end(): Promise<void> };

/** The settings that docs/operations.md names, without affinity: each request goes to the next node. */
const configOf = (folder: string, upstreams: readonly Upstream[]): string => `
daemon off;
worker_processes 2;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ")}
  client_max_body_size 64m;
  ${upstreams
    .map(
      ({ name, port, nodes }) => `
  upstream ${name} {
    zone ${name} 64k;
    ${nodes.map((node) => `server 127.0.0.1:${node} max_fails=0;`).join("\n    ")}
    keepalive 64;
    keepalive_timeout 2s;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://${name};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_next_upstream error timeout;
      proxy_connect_timeout 2s;
      proxy_read_timeout 1h;
      proxy_buffering off;
    }
  }`,
    )
    .join("\n")}
}
`;

/** Waits until a process accepts connections; throws when it has ended. */
export const waitForPort = async (port: number, hasEnded: () => boolean): Promise<void> => {
  while (!(await accepts(port))) {
    if (hasEnded()) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
};

/** Starts Debian's nginx in front of nodes, as a process of the test. */
export const startNginx = async (
  folder: string,
  upstreams: readonly Upstream[],
): Promise<Proxy> => {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const path = join(folder, "nginx.conf");
  await writeFile(path, configOf(folder, upstreams));
  const child = spawn(nginx ?? "nginx", ["-c", path, "-p", folder], { stdio: "ignore" });
  const closed = once(child, "exit");
  for (const { port } of upstreams) await waitForPort(port, () => child.exitCode !== null);
  return {
    log: () => readFile(join(folder, "error.log"), "utf8"),
    async end() {
      child.kill("SIGTERM");
      await closed;
    },
  };
};
