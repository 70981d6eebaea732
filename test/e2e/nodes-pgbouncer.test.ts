import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callEachWith } from "../mcp/each-tool.ts";
import { readText } from "../mcp/hosts.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { type ClusterHost, connectHost, createRecords, signIn } from "../support/cluster-walk.ts";
import { HAS_NGINX } from "../support/nginx.ts";
import { HAS_PGBOUNCER, type Pooler, startPgBouncer } from "../support/pgbouncer.ts";
import { verifies } from "../support/verifies.ts";

const SLOWLY = { timeout: 60_000, interval: 200 };

describe.skipIf(!HAS_NGINX || !HAS_PGBOUNCER)(
  "nodes on a database behind PgBouncer in transaction mode (needs nginx and pgbouncer)",
  () => {
    let pooler: Pooler | undefined;
    let cluster: Cluster;
    let host: ClusterHost;
    beforeAll(async () => {
      cluster = await startCluster({
        async reach(folder, databaseUrl) {
          pooler = await startPgBouncer(join(folder, "pgbouncer"), databaseUrl);
          return pooler.url;
        },
      });
      host = await connectHost(cluster, "legacy");
    });
    afterAll(async () => {
      await host?.close();
      await cluster?.close();
      await pooler?.end();
    });

    verifies("OP-24");
    it("each tool succeeds, with its questions", async () => {
      const admin = await signIn(cluster);
      const used = await createRecords(cluster, admin, "used");
      const spare = await createRecords(cluster, admin, "spare");
      expect(await callEachWith({ used, spare }, host)).toEqual([]);
    });

    verifies("OP-24", "OP-22");
    it("a session of 2025 is notified without LISTEN, which the log says", async () => {
      const firstRunAt = new Date(Date.now() + 5000).toISOString();
      const filters = { currencyCode: { eq: "USD" } };
      const args = { source: "cashapp", intervalMs: 300_000, firstRunAt, filters };
      const made = await host.call("schedules_create", args);
      expect(made.isError ?? false, readText(made)).toBe(false);
      const uri = `receivables://export-runs/${String(made.structuredContent?.["id"])}`;
      await host.client.subscribeResource({ uri });
      await expect.poll(() => host.updates, SLOWLY).toContain(uri);
      const logs = cluster.servers.map((server) => server.stderr()).join("");
      expect(logs).toContain('"event":"changes.polling"');
      expect(logs).not.toContain('"level":"error"');
    });
  },
);
