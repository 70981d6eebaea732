import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import about from "../../package.json" with { type: "json" };
import { inTurn, median, middleMs } from "../measure.ts";
import { type Command, greet, resultIn, startHost } from "../stdio/host.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const NO_NETWORK = join(import.meta.dirname, "no-network.cjs");
const STARTS = 5;
const CALLS = 51;
const REST_MS = 2000;
const MIB = 2 ** 20;

type Peer = { name: string; version: string; args: string[]; env: Record<string, string> };

/** Servers of npm that start and list their tools without a network. */
export const PEERS: readonly Peer[] = [
  {
    name: "@supabase/mcp-server-supabase",
    version: "0.13.0",
    // Without its documentation tools, which it describes with what it reads from the network.
    args: ["--features=account,database,debugging,development,functions,branching,storage"],
    env: { SUPABASE_ACCESS_TOKEN: "sbp_dummy" },
  },
  {
    name: "@notionhq/notion-mcp-server",
    version: "2.5.2",
    args: [],
    env: { NOTION_TOKEN: "ntn_dummy" },
  },
  {
    name: "mongodb-mcp-server",
    version: "3.0.4",
    args: [],
    env: { MDB_MCP_TELEMETRY: "disabled" },
  },
];

const OURS: Peer = {
  name: about.name,
  version: about.version,
  args: [],
  env: { RECEIVABLES_LOG: "silent", RECEIVABLES_KEYCHAIN: "off" },
};

type Installed = { peer: Peer; command: Command; sizeMib: number; packages: number };

export type Measured = {
  name: string;
  version: string;
  tools: number;
  figures: Record<MeasureName, number>;
};

export type MeasureName = keyof typeof MEASURES;

const UNEXPECTED = "unexpected; the load of the machine may be the reason";

/** What is compared: the less the better. `why` is the reason where another server needs less. */
export const MEASURES = {
  start: { about: "spawn to first tools/list", unit: "ms", why: UNEXPECTED },
  cpu: { about: "CPU time until then", unit: "ms", why: UNEXPECTED },
  list: {
    about: "a further tools/list",
    unit: "ms",
    why: "the list has more tools, each with the schema of its result",
  },
  refusal: {
    about: "a call of a tool that does not exist",
    unit: "ms",
    why: "the search for tools of similar names takes more than half of the time: without it the answer takes 0.1 ms, less than that of each",
  },
  memory: { about: "memory at rest after tools/list", unit: "MiB", why: UNEXPECTED },
  size: {
    about: "installed size",
    unit: "MiB",
    why: "the package contains a whole platform with its demo tenant",
  },
  packages: { about: "installed packages", unit: "", why: UNEXPECTED },
  modelTokens: {
    about: "tokens per tool that a model reads: name, description, input",
    unit: "",
    why: "every parameter is described",
  },
  listTokens: {
    about: "tokens per tool of the whole list",
    unit: "",
    why: "each tool has the schema of its result, which hosts do not pass to the model",
  },
} as const;

const sizeOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))));
  return sizes.reduce((sum, { size }) => sum + size, 0) / MIB;
};

const countPackages = async (folder: string): Promise<number> => {
  const lock = await readFile(join(folder, "node_modules/.package-lock.json"), "utf8");
  return Object.keys((JSON.parse(lock) as { packages: object }).packages).length;
};

/** Installs a package as its users do, in a folder of its own. */
const install = async (folder: string, peer: Peer, source: string): Promise<Installed> => {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), "{}");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...flags, source], { cwd: folder });
  const own = join(folder, "node_modules", peer.name);
  const { bin } = JSON.parse(await readFile(join(own, "package.json"), "utf8")) as {
    bin: Record<string, string>;
  };
  const program = join(own, Object.values(bin)[0] ?? "");
  const bare = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_DATA_HOME: folder };
  return {
    peer,
    command: {
      args: ["--require", NO_NETWORK, program, ...peer.args],
      env: { ...bare, ...peer.env },
    },
    sizeMib: await sizeOf(join(folder, "node_modules")),
    packages: await countPackages(folder),
  };
};

/** Packs this program and installs the archive. */
const installOurs = async (folder: string): Promise<Installed> => {
  await run("npm", ["pack", "--pack-destination", folder], { cwd: ROOT });
  const archive = `${OURS.name}-${OURS.version}.tgz`;
  return install(join(folder, "ours"), OURS, join(folder, archive));
};

type Tool = { name: string; description?: string; inputSchema: unknown };

const toolsOf = (line: string): Tool[] => resultIn(line)["tools"] as Tool[];

const start = async (command: Command) => {
  const began = performance.now();
  const host = startHost(command);
  await greet(host);
  const tools = toolsOf(await host.request("tools/list"));
  const figures = { start: performance.now() - began, cpu: host.cpuMs() };
  await setTimeout(REST_MS);
  const memory = host.memoryMib();
  return { host, tools, figures: { ...figures, memory } };
};

const startAndEnd = async (command: Command) => {
  const { host, figures } = await start(command);
  await host.end();
  return figures;
};

/** The middle one of so many requests, one after the other; as many before them warm up. */
const middle = async (request: () => Promise<unknown>): Promise<number> => {
  await inTurn(CALLS, request);
  return middleMs(CALLS, request);
};

const tokensOf = (tools: readonly unknown[]): number =>
  countTokens(JSON.stringify(tools)) / tools.length;

const measureWarm = async ({ command, peer, sizeMib, packages }: Installed) => {
  const { host, tools } = await start(command);
  const list = await middle(() => host.request("tools/list"));
  const call = { name: "no_such_tool", arguments: {} };
  const refusal = await middle(() => host.request("tools/call", call));
  await host.end();
  const forModel = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return {
    name: peer.name,
    version: peer.version,
    tools: tools.length,
    figures: {
      list,
      refusal,
      size: sizeMib,
      packages,
      modelTokens: tokensOf(forModel),
      listTokens: tokensOf(tools),
    },
  };
};

/** Installs this program and the others, and measures them in turn. */
export const comparePeers = async (folder: string): Promise<Measured[]> => {
  const installed = [await installOurs(folder)];
  for (const [index, peer] of PEERS.entries()) {
    const source = `${peer.name}@${peer.version}`;
    // One at a time needs less memory.
    installed.push(await install(join(folder, String(index)), peer, source));
  }
  const starts = installed.map((): Awaited<ReturnType<typeof startAndEnd>>[] => []);
  for (let turn = -1; turn < STARTS; turn += 1) {
    for (const [index, { command }] of installed.entries()) {
      // In turn, so that other load affects all of them alike.
      const figures = await startAndEnd(command);
      if (turn >= 0) starts[index]?.push(figures);
    }
  }
  const measured: Measured[] = [];
  for (const [index, one] of installed.entries()) {
    // Side by side they would measure each other.
    const warm = await measureWarm(one);
    const of = (name: "start" | "cpu" | "memory") =>
      median((starts[index] ?? []).map((figures) => figures[name]));
    const cold = { start: of("start"), cpu: of("cpu"), memory: of("memory") };
    measured.push({ ...warm, figures: { ...cold, ...warm.figures } });
  }
  return measured;
};
