import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { chown, writeFile } from "node:fs/promises";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type CutRelay, startCutRelay } from "./cut-relay.ts";
import { POSTGRES_TOOLS } from "./debian-postgres.ts";
import { freePort } from "./free-port.ts";
import { readExample } from "./manual.ts";
import { signal, stopFamilies } from "./processes.ts";
import { findProgram } from "./programs.ts";
import { findFastFolder } from "./temporary-folder.ts";

const [patroni, etcd] = [findProgram("patroni"), findProgram("etcd")];

export const HAS_PATRONI =
  patroni !== undefined && etcd !== undefined && POSTGRES_TOOLS !== undefined;

const PASSWORD = "password-of-the-cluster";
const NAMES = ["one", "two", "three"] as const;
const WAIT_MS = 120_000;

type Standby = { state: string; sync_state: string };

/** One of three servers. Others reach it through relays, which are its network. */
export type PatroniNode = {
  name: string;
  /** Whether Patroni says that this server is the primary. */
  isPrimary(): Promise<boolean>;
  /** Ends PostgreSQL with all its processes, and Patroni with it if the machine is lost. */
  kill(what: "postgres" | "machine"): Promise<void>;
  /** Stops all processes without ending them. */
  freeze(): void;
  cut(): void;
  /** Undoes what the faults above have done. */
  restore(): Promise<void>;
};

export type PatroniCluster = {
  nodes: readonly PatroniNode[];
  /** Adapts an example of the manual to the addresses of this cluster. */
  adapt(text: string): string;
  /** URL of all servers, or of one address. */
  urlOf(database: string, address?: string): string;
  findPrimary(except?: PatroniNode): Promise<PatroniNode>;
  /** Waits until both standbys follow the primary and one of them confirms each commit. */
  becomeWhole(): Promise<void>;
  switchOver(): Promise<void>;
  close(): Promise<void>;
};

type Place = {
  folder: string;
  /** The first three bytes of all addresses; relays are 1 to 3, the servers behind them 11 to 13. */
  net: string;
  ports: { postgres: number; rest: number; etcd: number; peer: number };
};

const ids = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (kind: string) =>
    Number(execFileSync("id", [kind, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
};

const configOf = ({ folder, net, ports }: Place, place: number): string =>
  readExample("yaml", "etcd3:")
    .replace("name: one", `name: ${NAMES[place]}`)
    // Without a search for other addresses of etcd, which would go past the relay.
    .replace(/hosts: 10\..*/, `hosts: ${net}.${place + 1}:${ports.etcd}\n  use_proxies: true`)
    .replace("/var/lib/postgresql/15/receivables", join(folder, "data"))
    .replace("/usr/lib/postgresql/15/bin", POSTGRES_TOOLS ?? "")
    .replace("/var/lib/postgresql/patroni.pgpass", join(folder, "pgpass"))
    .replace("/run/postgresql", folder)
    .replaceAll("PASSWORD", PASSWORD)
    .replaceAll("10.0.0.0/24", "127.0.0.0/8")
    .replaceAll(/ listen: 10\.0\.0\.1/g, ` listen: ${net}.${place + 11}`)
    .replaceAll("10.0.0.1", `${net}.${place + 1}`)
    .replaceAll(":5432", `:${ports.postgres}`)
    .replaceAll(":8008", `:${ports.rest}`);

/** Starts a program whose output goes to a file. */
const run = (line: string[], log: string, as?: { uid: number; gid: number }): ChildProcess => {
  const [command = "", ...rest] = line;
  const output = openSync(log, "a");
  const child = spawn(command, rest, { cwd: "/", stdio: ["ignore", output, output], ...as });
  closeSync(output);
  return child;
};

const gone = async (pids: readonly number[]): Promise<void> => {
  while (pids.some((pid) => signal(pid, 0))) await pause(20);
};

type Reply = { status: number; text: string };

/** The answer of Patroni's interface; undefined without one. */
const ask = async (url: string, body?: object): Promise<Reply | undefined> => {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  try {
    const time = AbortSignal.timeout(body === undefined ? 2000 : 60_000);
    const answer = await fetch(url, { signal: time, ...options });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return undefined;
  }
};

/** The servers that read the log of this one. */
const listStandbys = async (rest: string): Promise<Standby[]> => {
  const answer = await ask(`${rest}/patroni`);
  if (answer === undefined) return [];
  return (JSON.parse(answer.text) as { replication?: Standby[] }).replication ?? [];
};

const startNode = async (cluster: Place, place: number) => {
  const { net, ports } = cluster;
  const folder = join(cluster.folder, NAMES[place] ?? "");
  mkdirSync(folder, { mode: 0o700 });
  const as = ids();
  if (as !== undefined) await chown(folder, as.uid, as.gid);
  const config = join(cluster.folder, `${NAMES[place]}.yml`);
  await writeFile(config, configOf({ ...cluster, folder }, place));
  const relay = (port: number, target: string): Promise<CutRelay> =>
    startCutRelay({ host: `${net}.${place + 1}`, port }, { host: target, port });
  const own = `${net}.${place + 11}`;
  const relays = await Promise.all([
    relay(ports.postgres, own),
    relay(ports.rest, own),
    relay(ports.etcd, `${net}.20`),
  ]);
  const start = () => run([patroni ?? "", config], join(cluster.folder, `${NAMES[place]}.log`), as);
  let child = start();
  let frozen: number[] = [];
  const rest = `http://${own}:${ports.rest}`;
  const postmaster = (): number[] => {
    try {
      const text = readFileSync(join(folder, "data", "postmaster.pid"), "utf8");
      return [Number.parseInt(text, 10)].filter((pid) => signal(pid, 0));
    } catch {
      return [];
    }
  };
  const end = async (pids: number[], name: NodeJS.Signals): Promise<void> => {
    for (const pid of pids) signal(pid, name);
    await gone(pids);
  };
  const node: PatroniNode = {
    name: NAMES[place] ?? "",
    isPrimary: async () => (await ask(`${rest}/primary`))?.status === 200,
    async kill(what) {
      const patronis = what === "machine" ? [child.pid ?? 0] : [];
      await end(stopFamilies([...postmaster(), ...patronis]), "SIGKILL");
    },
    freeze() {
      frozen = stopFamilies([child.pid ?? 0, ...postmaster()]);
    },
    cut() {
      for (const one of relays) one.cut();
    },
    async restore() {
      for (const one of relays) one.heal();
      for (const pid of frozen.splice(0)) signal(pid, "SIGCONT");
      if (child.exitCode !== null || child.signalCode !== null) child = start();
    },
  };
  return {
    node,
    rest,
    async close() {
      await node.restore();
      await end([child.pid ?? 0], "SIGKILL");
      // An immediate shutdown, which gives the shared memory back.
      await end(postmaster(), "SIGQUIT");
      await Promise.all(relays.map((one) => one.close()));
    },
  };
};

const startEtcd = (folder: string, net: string, { etcd: port, peer }: Place["ports"]) => {
  const [client, others] = [`http://${net}.20:${port}`, `http://${net}.20:${peer}`];
  const options = {
    name: "one",
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": others,
    "initial-advertise-peer-urls": others,
    "initial-cluster": `one=${others}`,
  };
  const line = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return run([etcd ?? "", ...line], join(folder, "etcd.log"));
};

const poll = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const began = performance.now();
  while (!(await isSo())) {
    if (performance.now() - began > WAIT_MS) throw new Error(`${what}: not within ${WAIT_MS} ms`);
    await pause(100);
  }
};

/** Starts three servers by the manual's configuration, with one etcd. Needs Debian's packages. */
export const startPatroni = async (): Promise<PatroniCluster> => {
  const folder = mkdtempSync(join(findFastFolder(), "patroni-"));
  chmodSync(folder, 0o755);
  const net = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const [postgres = 0, rest = 0, client = 0, peer = 0] = await Promise.all(
    Array.from({ length: 4 }, freePort),
  );
  const ports = { postgres, rest, etcd: client, peer };
  const store = startEtcd(folder, net, ports);
  const started = await Promise.all(
    NAMES.map((_, place) => startNode({ folder, net, ports }, place)),
  );
  const nodes = started.map(({ node }) => node);
  const addresses = NAMES.map((_, place) => `${net}.${place + 1}:${ports.postgres}`).join(",");
  const cluster: PatroniCluster = {
    nodes,
    adapt: (text) =>
      text
        .replaceAll("10.0.0.", `${net}.`)
        .replaceAll(":5432", `:${ports.postgres}`)
        .replaceAll("8008", String(ports.rest)),
    urlOf: (database, address = addresses) =>
      `postgres://postgres:${PASSWORD}@${address}/${database}?target_session_attrs=read-write`,
    async findPrimary(except) {
      let primary: PatroniNode | undefined;
      await poll("a primary", async () => {
        const others = nodes.filter((node) => node !== except);
        const found = await Promise.all(others.map((node) => node.isPrimary()));
        primary = others[found.indexOf(true)];
        return primary !== undefined;
      });
      return primary as PatroniNode;
    },
    becomeWhole: () =>
      poll("two standbys that follow", async () => {
        const all = await Promise.all(started.map(({ rest: url }) => listStandbys(url)));
        return all.some(
          (standbys) =>
            standbys.filter(({ state }) => state === "streaming").length === 2 &&
            standbys.some(({ sync_state: state }) => state === "sync"),
        );
      }),
    async switchOver() {
      const leader = await cluster.findPrimary();
      const place = nodes.indexOf(leader);
      const answer = await ask(`${started[place]?.rest}/switchover`, { leader: leader.name });
      if (answer?.status !== 200) throw new Error(`switchover: ${answer?.text}`);
    },
    async close() {
      await Promise.all(started.map((one) => one.close()));
      store.kill("SIGKILL");
      await once(store, "exit");
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return cluster;
};
