import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BY_URL, callEachWith, tools } from "../mcp/each-tool.ts";
import { readText, ERAS } from "../mcp/hosts.ts";
import { type Cluster, EMAIL, PASSWORD, startCluster } from "../support/cluster.ts";
import {
  callerOf,
  type ClusterHost,
  connectHost,
  createRecords,
  type Era,
  signIn,
} from "../support/cluster-walk.ts";
import { HAS_NGINX } from "../support/nginx.ts";
import { connectNew } from "../support/oauth-host.ts";
import type { Person } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

const WEBHOOKS = "/api/v1/remittance-export/webhooks";
const SLOWLY = { timeout: 60_000, interval: 200 };

/** Requests enough that each node gets some. */
const SEVERAL = 6;

describe.skipIf(!HAS_NGINX)("nodes behind nginx without affinity (needs nginx)", () => {
  let cluster: Cluster;
  let admin: Person;
  let receiver: Receiver;
  beforeAll(async () => {
    cluster = await startCluster({ signIn: true });
    admin = await signIn(cluster);
    receiver = await startReceiver();
    const body = { callbackUrl: `http://127.0.0.1:${receiver.port}/hook` };
    const keyed = callerOf(cluster, { "X-API-Key": cluster.extApiKey });
    const { status, text } = await keyed("POST", WEBHOOKS, { body });
    if (status !== 201) throw new Error(text);
  });
  afterAll(async () => {
    await receiver?.close();
    await cluster?.close();
  });

  describe.each(ERAS)("with hosts of %s", (_era, mode) => {
    let host: ClusterHost;
    beforeAll(async () => {
      host = await connectHost(cluster, mode);
    });
    afterAll(() => host.close());

    const call = async (name: string, args: Record<string, unknown>) => {
      const result = await host.call(name, args);
      expect(result.isError ?? false, readText(result)).toBe(false);
      return result.structuredContent ?? {};
    };

    verifies("OP-20", "OP-22");
    it("each tool succeeds, with its questions", async () => {
      expect(host.toolNames).toHaveLength(tools.length + BY_URL.size);
      const used = await createRecords(cluster, admin, `used-${mode}`);
      const spare = await createRecords(cluster, admin, `spare-${mode}`);
      expect(await callEachWith({ used, spare }, host)).toEqual([]);
    });

    verifies("OP-20");
    it("files that one node stored are read from the other", async () => {
      const { dispute } = await createRecords(cluster, admin, `files-${mode}`);
      const { disputeId } = dispute;
      const file = { disputeId, fileName: "letter.txt", text: "We were charged twice." };
      const { attachmentId, status } = await call("dispute_attachments_upload", file);
      expect(status).toBe("Available");
      for (let turn = 0; turn < SEVERAL; turn += 1) {
        const read = await call("dispute_attachments_download", { disputeId, attachmentId });
        expect(read["text"]).toEqual([{ part: "text", text: "We were charged twice." }]);
      }
    });

    verifies("OP-22");
    it("a run that ends is notified to its subscriber and to a webhook", async () => {
      const firstRunAt = new Date(Date.now() + 5000).toISOString();
      const filters = { currencyCode: { eq: "USD" } };
      const schedule = { source: "cashapp", intervalMs: 300_000, firstRunAt, filters };
      const { id } = await call("schedules_create", schedule);
      const uri = `receivables://export-runs/${String(id)}`;
      if (mode === "auto") await host.client.listen({ resourceSubscriptions: [uri] });
      else await host.client.subscribeResource({ uri });
      await expect.poll(() => host.updates, SLOWLY).toContain(uri);
      const { contents } = await host.client.readResource({ uri });
      expect(JSON.stringify(contents)).toContain("completed");
      await expect
        .poll(() => receiver.received.map(({ body }) => body.toString("utf8")), SLOWLY)
        .toContainEqual(expect.stringContaining(String(id)));
    });
  });

  it.each(ERAS)("people sign in at one node and work at each (hosts of %s)", async (_era, mode) => {
    const login = { email: EMAIL, password: PASSWORD, scope: ["read", "write", "admin"] };
    const pages: string[] = [];
    const { client } = await connectNew(cluster.signInUrl, login, {
      mode: mode satisfies Era,
      capabilities: { elicitation: { form: {}, url: {} } },
      prepare: (one) =>
        one.setRequestHandler("elicitation/create", ({ params }) => {
          if (!("url" in params)) return { action: "accept", content: { confirm: true } };
          pages.push(params.url);
          return { action: "accept" };
        }),
    });
    for (let turn = 0; turn < SEVERAL; turn += 1) {
      const profile = await client.callTool({ name: "users_profile", arguments: {} });
      expect(JSON.stringify(profile.structuredContent)).toContain(EMAIL);
    }
    // The secret is stored by one node, and its page is answered by another.
    const args = { callbackUrl: "https://93.184.215.14/hooks" };
    const made = await client.callTool({ name: "webhooks_create", arguments: args });
    expect(made.isError ?? false, JSON.stringify(made.content)).toBe(false);
    const [page = ""] = pages;
    const previews = Array.from({ length: SEVERAL }, async () => (await fetch(page)).status);
    expect(new Set(await Promise.all(previews))).toEqual(new Set([200]));
    const presses = Array.from({ length: SEVERAL }, async () => {
      const answer = await fetch(page, { method: "POST" });
      return [answer.status, /whsec_|<code>/.test(await answer.text())];
    });
    const shown = await Promise.all(presses);
    expect(shown.filter(([status]) => status === 200)).toEqual([[200, true]]);
    expect(shown.filter(([status]) => status === 410)).toHaveLength(SEVERAL - 1);
    await client.close();
  });

  verifies("OP-30");
  it("a server is ready as long as the platforms and the shared database are", async () => {
    const answer = await fetch(new URL("/ready", cluster.mcpUrl));
    expect(await answer.json()).toEqual({
      status: "ok",
      parts: { platform: { ok: true }, store: { ok: true } },
    });
  });

  it("no node has an unexpected error, and the proxy loses no connection", async () => {
    const nodes = [...cluster.platforms, ...cluster.servers, ...cluster.signIns];
    const lines = nodes.flatMap((node) => node.stderr().split("\n"));
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(await cluster.proxy.log()).toBe("");
  });
});
