import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import { freePort } from "../free-port.ts";
import { accepts } from "../listen.ts";

/** Debian's Python, whose package python3-swift has all servers. */
const PYTHON = "/usr/bin/python3";

/** Whether the machine has OpenStack Swift, whose S3 interface is independent of the client's authors. */
export const hasSwift =
  spawnSync(PYTHON, ["-c", "import swift.common.middleware.s3api.s3api"]).status === 0;

const REGION = "swift-region-1";
export const SWIFT_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: "test:tester",
  AWS_SECRET_ACCESS_KEY: "testing",
};

type Ports = { account: number; container: number; object: number; proxy: number };
const SERVERS = ["account", "container", "object", "proxy"] as const;

export type Swift = {
  endpoint: string;
  region: string;
  /** A client beside the file store, to make buckets and look into them. */
  client: S3Client;
  stop(): Promise<void>;
};

const freePorts = async (): Promise<Ports> => {
  const ports = await Promise.all(SERVERS.map(freePort));
  return Object.fromEntries(SERVERS.map((name, index) => [name, ports[index]])) as Ports;
};

const head = (folder: string, port: number, pipeline: string): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${join(folder, "devices")}
mount_check = false
fallocate_reserve = 0
[pipeline:main]
pipeline = ${pipeline}
`;

// Without memcached, which only remembers what the servers know.
const PROXY = `[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = ${REGION}
max_bucket_listing = 3
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
`;

const RINGS = `
import sys
from swift.common.ring import RingBuilder
folder, *ports = sys.argv[1:]
for name, port in zip(("account", "container", "object"), map(int, ports)):
    ring = RingBuilder(2, 1, 0)
    ring.add_dev(dict(id=0, region=1, zone=1, ip="127.0.0.1", port=port, device="disk", weight=1.0,
                      replication_ip="127.0.0.1", replication_port=port, meta=""))
    ring.rebalance()
    ring.get_ring().save("%s/%s.ring.gz" % (folder, name))
`;

const SERVE = `
import sys
from swift.common import utils
folder, name = sys.argv[1:]
utils.SWIFT_CONF_FILE = folder + "/swift.conf"
from swift.common.wsgi import run_wsgi
more = {}
if name == "object":
    from swift.obj import server
    more["global_conf_callback"] = server.global_conf_callback
sys.exit(run_wsgi("%s/%s.conf" % (folder, name), name + "-server", **more))
`;

const configure = (folder: string, ports: Ports): void => {
  mkdirSync(join(folder, "devices", "disk"), { recursive: true });
  const hash = "swift_hash_path_suffix = test\nswift_hash_path_prefix = test\n";
  writeFileSync(join(folder, "swift.conf"), `[swift-hash]\n${hash}`);
  for (const name of ["account", "container", "object"] as const) {
    const app = `[app:${name}-server]\nuse = egg:swift#${name}\n`;
    writeFileSync(join(folder, `${name}.conf`), head(folder, ports[name], `${name}-server`) + app);
  }
  const pipeline = "catch_errors cache listing_formats s3api tempauth copy slo proxy-server";
  writeFileSync(join(folder, "proxy.conf"), head(folder, ports.proxy, pipeline) + PROXY);
  const numbers = [ports.account, ports.container, ports.object].map(String);
  const rings = spawnSync(PYTHON, ["-c", RINGS, folder, ...numbers], { encoding: "utf8" });
  if (rings.status !== 0) throw new Error(`swift's rings: ${rings.stderr}`);
};

const START_MS = 60_000;

const whenListening = async (folder: string, ports: Ports, children: ChildProcess[]) => {
  const until = Date.now() + START_MS;
  for (const name of SERVERS) {
    while (!(await accepts(ports[name]))) {
      if (Date.now() > until || children.some(({ exitCode }) => exitCode !== null)) {
        const logs = SERVERS.map((one) => readFileSync(join(folder, `${one}.log`), "utf8"));
        throw new Error(`swift does not start: ${logs.join("\n")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
};

/** Starts Swift with one disk, a folder, and no replication. It needs extended attributes in the temporary folder. */
export const startSwift = async (): Promise<Swift> => {
  const folder = mkdtempSync(join(tmpdir(), "swift-"));
  const ports = await freePorts();
  configure(folder, ports);
  const children = SERVERS.map((name) => {
    const child = spawn(PYTHON, ["-c", SERVE, folder, name], { stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(join(folder, `${name}.log`));
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    return child;
  });
  const stop = async (): Promise<void> => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
      }),
    );
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await whenListening(folder, ports, children);
  } catch (error) {
    await stop();
    throw error;
  }
  const endpoint = `http://127.0.0.1:${ports.proxy}`;
  const credentials = {
    accessKeyId: SWIFT_ENVIRONMENT.AWS_ACCESS_KEY_ID,
    secretAccessKey: SWIFT_ENVIRONMENT.AWS_SECRET_ACCESS_KEY,
  };
  const client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials });
  return { endpoint, region: REGION, client, stop };
};
