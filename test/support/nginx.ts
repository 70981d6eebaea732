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

/** A proxy that sends each tenant, by its host name, to the installation that has it. */
export type TenantProxy = Proxy & {
  /** Sends tenants to other ports. Requests that have begun end where they are. */
  route(routes: Routes): Promise<void>;
};

/** Host names of tenants, and the ports of their installations. */
export type Routes = Readonly<Record<string, number>>;

/** The settings that docs/scale.md shows. */
const configOfTenants = (folder: string, port: number, routes: Routes): string => `
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ")}
  client_max_body_size 64m;
  map $host $installation {
    ${Object.entries(routes)
      .map(([host, node]) => `${host} 127.0.0.1:${node};`)
      .join("\n    ")}
  }
  server {
    ${Object.keys(routes)
      .map((host) => `listen ${host}:${port};`)
      .join("\n    ")}
    location / {
      proxy_pass http://$installation;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_buffering off;
    }
  }
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

const startProcess = async (
  folder: string,
  { config, ports }: { config: string; ports: readonly number[] },
): Promise<Proxy & { path: string; reload(): void }> => {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const path = join(folder, "nginx.conf");
  await writeFile(path, config);
  const child = spawn(nginx ?? "nginx", ["-c", path, "-p", folder], { stdio: "ignore" });
  const closed = once(child, "exit");
  for (const port of ports) await waitForPort(port, () => child.exitCode !== null);
  return {
    path,
    reload: () => void child.kill("SIGHUP"),
    log: () => readFile(join(folder, "error.log"), "utf8"),
    async end() {
      child.kill("SIGTERM");
      await closed;
    },
  };
};

/** Starts Debian's nginx in front of nodes, as a process of the test. */
export const startNginx = (folder: string, upstreams: readonly Upstream[]): Promise<Proxy> =>
  startProcess(folder, {
    config: configOf(folder, upstreams),
    ports: upstreams.map(({ port }) => port),
  });

/** Starts nginx in front of installations; the host names of tenants are addresses of this machine. */
export const startTenantProxy = async (
  folder: string,
  port: number,
  routes: Routes,
): Promise<TenantProxy> => {
  const { path, reload, ...proxy } = await startProcess(folder, {
    config: configOfTenants(folder, port, routes),
    ports: [],
  });
  return {
    ...proxy,
    async route(next) {
      await writeFile(path, configOfTenants(folder, port, next));
      reload();
    },
  };
};
