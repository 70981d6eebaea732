import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { freePort } from "../support/free-port.ts";
import { HAS_HAPROXY, startDatabaseHaproxy, startHaproxy } from "../support/haproxy.ts";
import { HAS_PATRONI, type PatroniCluster, startPatroni } from "../support/patroni.ts";
import { administer } from "../support/postgres.ts";
import { signingIn } from "../support/signing.ts";

export const HAS_FAILOVER = HAS_PATRONI && HAS_HAPROXY;

const DATABASE = "receivables";

/**
 * Two platforms and two MCP servers on a database of three servers. The first node of both reaches it by a list of
 * hosts, the second one through HAProxy.
 */
export type FailoverCluster = {
  patroni: PatroniCluster;
  nodes: Cluster;
  close(): Promise<void>;
};

/** Starts everything by the examples of the manual. */
export const startFailoverCluster = async (): Promise<FailoverCluster> => {
  const folder = await mkdtemp(join(tmpdir(), "failover-"));
  const patroni = await startPatroni();
  const port = await freePort();
  const proxy = await startDatabaseHaproxy(join(folder, "haproxy"), port, patroni.adapt);
  await patroni.findPrimary();
  await patroni.becomeWhole();
  const throughProxy = patroni.urlOf("postgres", `127.0.0.1:${port}`);
  // HAProxy ends connections until its checks have found the primary.
  await vi.waitFor(() => administer(throughProxy, "select 1"), 30 * SECOND);
  await administer(throughProxy, `create database ${DATABASE}`);
  const url = patroni.urlOf(DATABASE);
  const open = () => openPostgres(url, signingIn(folder));
  await (await open()).close();
  const environment = { DATABASE_URL: url, RECEIVABLES_DATA: folder };
  const nodes = await startCluster({
    database: { open, environment, remove: async () => {} },
    reach: async () => [url, patroni.urlOf(DATABASE, `127.0.0.1:${port}`)],
    startProxy: startHaproxy,
  });
  return {
    patroni,
    nodes,
    async close() {
      await nodes.close();
      await proxy.end();
      await patroni.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
