import { beforeAll, describe, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { CALLBACK, WEBHOOKS_PATH } from "../support/export-records.ts";
import { type Caller, onEveryStore, startPlatform, WEBHOOKS } from "../support/platform.ts";
import { dump } from "../fault/dump.ts";
import { verifies } from "../support/verifies.ts";

const MANAGER = ["export:read", "export:manage"];

/** URLs that are refused for what they are, wherever they lead. */
const IMPROPER = [
  "https://user@hooks.example/",
  "https://user:secret@hooks.example/",
  "https://hooks.example:80/",
  "https://hooks.example:22/",
  "https://hooks.example:1023/",
  "https://hooks.example:0/",
  "https://hooks.example:65536/",
  "http://hooks.example/",
  "ftp://hooks.example/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "hooks.example",
  "//hooks.example/",
  "/hooks",
  "https://",
  "https://hooks.example/a b",
  "https://hooks.example/\n",
  " https://hooks.example/",
  `https://hooks.example/${"x".repeat(3000)}`,
];

const create = (call: Caller, body: unknown, headers: Record<string, string> = {}) =>
  call("POST", WEBHOOKS_PATH, { body, headers });

onEveryStore("webhooks", (at) => {
  let tenants = 0;
  const manager = async (): Promise<Caller> => {
    tenants += 1;
    const needs = { ...at(), newId: randomId };
    await createTenant(needs, { tenantId: `hooks-${tenants}`, name: "Hooks" });
    return at().exportCaller(`hooks-${tenants}`, MANAGER);
  };
  let shared: Caller;
  beforeAll(async () => {
    shared = await manager();
  });
  const tenantId = () => `hooks-${tenants}`;

  verifies("WH-01", "WH-05");
  it("returns the secret once, in the response that creates it", async () => {
    const call = await manager();
    const made = await create(call, { callbackUrl: CALLBACK });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      tenantId: tenantId(),
      callbackUrl: CALLBACK,
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      createdAt: "2026-03-02T09:00:00.000Z",
      updatedAt: "2026-03-02T09:00:00.000Z",
    });
    const { secret, ...shown } = made.body;
    const list = await call("GET", WEBHOOKS_PATH);
    expect([list.status, list.body]).toEqual([200, { data: [shown] }]);
    const others = [
      await call("GET", `${WEBHOOKS_PATH}/${shown.id}/deliveries`),
      await call("DELETE", `${WEBHOOKS_PATH}/${shown.id}`),
      await call("GET", WEBHOOKS_PATH),
    ];
    expect(others.map(({ status }) => status)).toEqual([200, 204, 200]);
    expect(others.map(({ text }) => text).join("")).not.toContain(secret);
  });

  verifies("C-32");
  it("stores the secret encrypted only", async () => {
    const call = await manager();
    const { secret } = (await create(call, { callbackUrl: CALLBACK })).body;
    const tables = ["webhooks", "webhook_deliveries", "audit_logs", "idempotency_keys"];
    const rows = [...(await dump(at().store, tables)).values()].flat().join("\n");
    expect(rows).toContain(CALLBACK);
    expect(rows).not.toContain(secret);
  });

  it("returns the webhook without its secret for a repeated Idempotency-Key", async () => {
    const call = await manager();
    const headers = { "Idempotency-Key": "once" };
    const first = await create(call, { callbackUrl: CALLBACK }, headers);
    const again = await create(call, { callbackUrl: CALLBACK }, headers);
    expect([again.status, again.body.error.code]).toEqual([409, "CONFLICT"]);
    expect(again.text).toContain(first.body.id);
    expect(again.text).not.toContain(first.body.secret);
    expect((await call("GET", WEBHOOKS_PATH)).body.data).toHaveLength(1);
  });

  verifies("WH-02", "EX-05");
  it("requires a URL, and refuses unknown fields", async () => {
    const call = await manager();
    const bodies = [
      {},
      { callbackUrl: "" },
      { callbackUrl: 5 },
      { callbackUrl: null },
      { callbackUrl: CALLBACK, scheduleID: "s" },
      { callbackUrl: CALLBACK, secret: "mine" },
      { callbackUrl: CALLBACK, scheduleId: 5 },
      [],
    ];
    for (const body of bodies) {
      const refused = await create(call, body);
      expect(refused.status, refused.text).toBe(400);
      expect(refused.body).toEqual({
        error: {
          code: "BAD_REQUEST",
          message: expect.any(String),
          requestId: expect.any(String),
        },
      });
    }
    expect((await call("GET", WEBHOOKS_PATH)).body).toEqual({ data: [] });
  });

  verifies("WH-04", "C-27");
  it.each(IMPROPER)("refuses %j", async (callbackUrl) => {
    const refused = await create(shared, { callbackUrl });
    expect([refused.status, refused.body.error.code]).toEqual([400, "BAD_REQUEST"]);
    expect(refused.body.error.message).toMatch(/^callbackUrl /);
  });

  verifies("WH-03", "C-22", "C-23", "C-44");
  it.each([
    "https://127.0.0.1/",
    "https://10.1.2.3:8443/",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://[::1]/",
    "https://[::ffff:7f00:1]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://１２７.0.0.1/",
    "https://localhost/",
    "https://localhost.:8443/",
    "https://a.localhost/",
    "https://metadata.google.internal/",
  ])("refuses %s", async (callbackUrl) => {
    const refused = await create(shared, { callbackUrl });
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.error.message).toContain("private");
  });

  it.each([
    "https://hooks.example",
    "https://hooks.example:443/",
    "https://hooks.example:1024/a?b=c",
    "https://hooks.example:65535/",
    "https://[2606:4700::1111]/",
  ])("takes %s, as it was sent", async (callbackUrl) => {
    const made = await create(shared, { callbackUrl });
    expect([made.status, made.body.callbackUrl]).toEqual([201, callbackUrl]);
  });

  it("removes the fragment, which would never be sent", async () => {
    const made = await create(await manager(), { callbackUrl: "https://hooks.example/a?b#c#d" });
    expect(made.body.callbackUrl).toBe("https://hooks.example/a?b");
  });

  verifies("D-WH-1");
  it("refuses a schedule that the tenant does not have; none means all", async () => {
    const call = await manager();
    const refused = await create(call, { callbackUrl: CALLBACK, scheduleId: "no-such" });
    expect([refused.status, refused.body.error.code]).toEqual([400, "BAD_REQUEST"]);
    expect(refused.body.error.message).toContain("scheduleId");
    for (const scheduleId of ["", null]) {
      const made = await create(call, { callbackUrl: CALLBACK, scheduleId });
      expect([made.status, "scheduleId" in made.body]).toEqual([201, false]);
    }
  });

  verifies("D-WH-1");
  it("allows twenty per tenant", async () => {
    const call = await manager();
    const all = await Promise.all(
      Array.from({ length: 22 }, () => create(call, { callbackUrl: CALLBACK })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 20 }, () => 201),
      409,
      409,
    ]);
    const [first] = (await call("GET", WEBHOOKS_PATH)).body.data;
    await call("DELETE", `${WEBHOOKS_PATH}/${first.id}`);
    expect((await create(call, { callbackUrl: CALLBACK })).status).toBe(201);
  });

  verifies("WH-14", "WH-15");
  it("finds no deliveries of a missing webhook, and cannot delete it", async () => {
    const other = await manager();
    const { id } = (await create(other, { callbackUrl: CALLBACK })).body;
    const call = await manager();
    for (const unknown of ["no-such", id]) {
      const answers = [
        await call("GET", `${WEBHOOKS_PATH}/${unknown}/deliveries`),
        await call("DELETE", `${WEBHOOKS_PATH}/${unknown}`),
      ];
      expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
        [404, "NOT_FOUND"],
        [404, "NOT_FOUND"],
      ]);
    }
    expect((await call("GET", WEBHOOKS_PATH)).body.data).toEqual([]);
    expect((await other("DELETE", `${WEBHOOKS_PATH}/${id}`)).text).toBe("");
    expect((await other("DELETE", `${WEBHOOKS_PATH}/${id}`)).status).toBe(404);
  });

  it("requires the permission of each operation", async () => {
    await manager();
    const reader = await at().exportCaller(tenantId(), ["export:read"]);
    const writer = await at().exportCaller(tenantId(), ["export:manage"]);
    expect((await reader("GET", WEBHOOKS_PATH)).status).toBe(200);
    expect((await create(reader, { callbackUrl: CALLBACK })).status).toBe(403);
    expect((await create(writer, { callbackUrl: CALLBACK })).status).toBe(201);
    expect((await writer("GET", WEBHOOKS_PATH)).status).toBe(403);
  });

  verifies("AU-02", "AU-14");
  it("records each action with its webhook and without a secret", async () => {
    const call = await manager();
    const made = (await create(call, { callbackUrl: CALLBACK })).body;
    await call("GET", WEBHOOKS_PATH);
    await call("GET", `${WEBHOOKS_PATH}/${made.id}/deliveries`);
    await call("DELETE", `${WEBHOOKS_PATH}/${made.id}`);
    await call("DELETE", `${WEBHOOKS_PATH}/${made.id}`);
    const auditor = await at().exportCaller(tenantId(), ["audit:read"]);
    const log = await auditor("GET", "/api/v1/remittance-export/audit-logs?q=webhook");
    const told = log.body.data.map(
      (entry: Record<string, unknown> & { metadata: Record<string, unknown> }) => [
        entry["action"],
        entry["endpoint"],
        entry["statusCode"],
        entry.metadata["webhookId"],
      ],
    );
    expect(told).toEqual([
      ["webhook.deleted", "/webhooks/{id}", 404, made.id],
      ["webhook.deleted", "/webhooks/{id}", 204, made.id],
      ["webhook.deliveries_read", "/webhooks/{id}/deliveries", 200, made.id],
      ["webhook.listed", "/webhooks", 200, undefined],
      ["webhook.created", "/webhooks", 201, made.id],
    ]);
    expect(log.text).not.toContain(made.secret);
  });
});

describe("addresses of callbacks", () => {
  const registering = async (
    { addresses, allow = [] }: { addresses: string[] | Error; allow?: string[] },
    callbackUrl = "https://hooks.example/",
  ) => {
    const resolve = async () => {
      if (addresses instanceof Error) throw addresses;
      return addresses;
    };
    const hosts = { resolve, allowed: createNetworks(allow) };
    const at = await startPlatform(undefined, { webhooks: { ...WEBHOOKS, hosts } });
    await createTenant({ ...at, newId: randomId }, { tenantId: "t", name: "T" });
    const { status, body } = await create(await at.exportCaller("t", MANAGER), { callbackUrl });
    await at.close();
    return [status, body.error?.message];
  };

  verifies("WH-03", "C-25");
  it("refuse a name with any private address", async () => {
    const [status, message] = await registering({ addresses: ["93.184.215.14", "192.168.0.1"] });
    expect([status, message]).toEqual([400, expect.stringContaining("private")]);
  });

  verifies("WH-03");
  it("refuse a name that does not resolve", async () => {
    const [status, message] = await registering({ addresses: new Error("ENOTFOUND") });
    expect([status, message]).toEqual([400, expect.stringContaining("resolved")]);
  });

  it("accept an allowed network, also unencrypted, and no other", async () => {
    const at = { addresses: ["127.0.0.1"], allow: ["127.0.0.0/8"] };
    await expect(registering(at)).resolves.toEqual([201, undefined]);
    await expect(registering(at, "http://hooks.example/")).resolves.toEqual([201, undefined]);
    await expect(registering(at, "http://127.0.0.2:8080/")).resolves.toEqual([201, undefined]);
    await expect(registering(at, "http://10.0.0.1:8080/")).resolves.toEqual([
      400,
      expect.stringContaining("https"),
    ]);
    const both = { ...at, addresses: ["127.0.0.1", "10.0.0.1"] };
    await expect(registering(both)).resolves.toEqual([400, expect.stringContaining("private")]);
  });
});
