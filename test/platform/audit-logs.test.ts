import { beforeAll, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import {
  configure,
  DISPUTES,
  onEveryStore,
  useExportCaller,
  useTenant,
} from "../support/platform.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { alterToken } from "../support/alter-token.ts";
import { findRow, findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const LOGS = "/api/v1/remittance-export/audit-logs";
const tool = (name: string) => ({ "X-Platform-Mcp-Tool": name });

type Entry = {
  id: string;
  method: string;
  endpoint: string;
  action?: string;
  statusCode: number;
  metadata: Record<string, unknown>;
  tenantId: string;
  timestamp: string;
};

onEveryStore("audit log", (at) => {
  const admin = useTenant(at, "audit");
  const read = useExportCaller(at, "audit", ["audit:read"]);
  const entries = async (query = ""): Promise<Entry[]> =>
    (await read("GET", `${LOGS}${query}`)).body.data;
  const stored = (tenantId: string) =>
    findRows(at().store.read, "audit_logs", { tenant_id: tenantId }, "seq");
  const dispute = { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };

  beforeAll(() => configure(admin));

  verifies("AU-01", "D-AUD-3");
  it("adds one entry per request of a tool and per export request, and none for other reads", async () => {
    const before = (await stored("audit")).length;
    await admin.call("GET", DISPUTES);
    expect(await stored("audit")).toHaveLength(before);
    await admin.call("GET", DISPUTES, { headers: tool("disputes_list") });
    await admin.call("POST", DISPUTES, { body: dispute, headers: tool("disputes_create") });
    await admin.call("POST", DISPUTES, { body: {}, headers: tool("disputes_create") });
    await admin.call("GET", `${DISPUTES}/none`, { headers: tool("disputes_get") });
    await read("GET", LOGS);
    await read("GET", `${LOGS}?limit=none`);
    const made = (await stored("audit")).slice(before);
    expect(made.map((row) => [row.action, row.status_code])).toEqual([
      ["dispute.listed", 200],
      ["dispute.created", 201],
      ["dispute.created", 400],
      ["dispute.read", 404],
      ["audit.queried", 200],
      ["audit.queried", 400],
    ]);
  });

  verifies("AU-03", "D-AUD-5");
  it("an entry has its documented fields, the route as a template", async () => {
    const { body } = await admin.call("POST", DISPUTES, { body: dispute });
    await admin.call("GET", `${DISPUTES}/${body.disputeId}`, { headers: tool("disputes_get") });
    const [entry] = await entries("?limit=1");
    expect(entry).toEqual({
      id: expect.any(String),
      method: "GET",
      endpoint: "/dispute/v1/tenants/{tenantId}/disputes/{disputeId}",
      action: "dispute.read",
      statusCode: 200,
      metadata: {
        mcpTool: "disputes_get",
        disputeId: body.disputeId,
        resourceId: body.disputeId,
        actor: admin.userId,
      },
      tenantId: "audit",
      timestamp: new Date(at().clock()).toISOString(),
    });
    const [own] = await entries("?limit=1");
    expect(own).toMatchObject({ endpoint: "/audit-logs", action: "audit.queried" });
  });

  verifies("D-AUD-3");
  it("names a status change by its effect", async () => {
    const { body } = await admin.call("POST", DISPUTES, { body: dispute });
    const change = async (sent: object) => {
      await admin.call("PUT", `${DISPUTES}/${body.disputeId}`, {
        body: sent,
        headers: tool("disputes_update"),
      });
      return (await stored("audit")).at(-1)?.action;
    };
    expect(await change({ poNumber: "1" })).toBe("dispute.updated");
    expect(await change({ status: 0 })).toBe("dispute.updated");
    expect(await change({ status: "closed" })).toBe("dispute.closed");
    expect(await change({ status: 2 })).toBe("dispute.canceled");
    expect(await change({ status: 0 })).toBe("dispute.reopened");
    expect(await change({ status: 2 })).toBe("dispute.canceled");
    expect(await change({ amount: -1 })).toBe("dispute.updated");
  });

  verifies("D-AUD-2");
  it("records missing rights; missing credentials belong to no tenant", async () => {
    const viewer = await at().person("audit", { roles: ["Viewer"] });
    const before = (await stored("audit")).length;
    await viewer.call("POST", DISPUTES, { body: dispute, headers: tool("disputes_create") });
    await at().call("GET", DISPUTES.replace("{t}", "audit"), { headers: tool("disputes_list") });
    await at().call("GET", LOGS);
    const made = (await stored("audit")).slice(before);
    expect(made.map((row) => [row.action, row.status_code])).toEqual([["dispute.created", 403]]);
  });

  verifies("D-AUD-2");
  it("limits a tool's name to 64 lower-case characters, an id to 128", async () => {
    const before = (await stored("audit")).length;
    for (const name of ["x".repeat(64), "x".repeat(65), "Disputes_get", "a b"]) {
      await admin.call("GET", `${DISPUTES}/${"y".repeat(300)}`, { headers: tool(name) });
    }
    const made = (await stored("audit")).slice(before);
    expect(made.map((row) => [row.status_code, JSON.parse(row.metadata)])).toEqual([
      [
        400,
        {
          mcpTool: "x".repeat(64),
          disputeId: "y".repeat(128),
          resourceId: "y".repeat(128),
          actor: admin.userId,
        },
      ],
    ]);
  });

  verifies("D-AUD-3");
  it("adds an entry in the user's tenant when a session is opened, verified and closed", async () => {
    const body = { email: admin.email, password: admin.password };
    const { accessToken } = (await at().call("POST", "/authentication/v1/login", { body })).body;
    for (const path of ["verify-session", "logout"]) {
      await at().call("POST", `/authentication/v1/${path}`, { body: { accessToken } });
    }
    const made = (await stored("audit")).slice(-3);
    expect(made.map((row) => [row.action, row.endpoint, row.metadata])).toEqual(
      [
        ["auth.logged_in", "login"],
        ["auth.verified", "verify-session"],
        ["auth.logged_out", "logout"],
      ].map(([action, path]) => [
        action,
        `/authentication/v1/${path}`,
        JSON.stringify({ actor: admin.userId }),
      ]),
    );
  });

  verifies("AU-05");
  it("lists entries from before the action field without it", async () => {
    await at().tenant("audit-old");
    const old = await at().exportCaller("audit-old");
    const entry = {
      tenantId: "audit-old",
      id: "old",
      at: at().clock(),
      method: "GET",
      endpoint: "/payments/query",
      action: null,
      statusCode: 200,
      metadata: {},
    };
    const { store } = at();
    await store.transaction((tx) => appendEntries(tx, store.auditKey, [entry]));
    const { data } = (await old("GET", `${LOGS}?endpoint=/payments/query`)).body;
    expect(data).toHaveLength(1);
    expect(data[0]).not.toHaveProperty("action");
  });

  verifies("AU-06", "AU-12");
  it("returns each entry once, newest first, while entries arrive", async () => {
    const tenant = await at().tenant("audit-walk");
    const caller = await at().exportCaller("audit-walk");
    for (let number = 0; number < 23; number++) {
      await tenant.call("GET", DISPUTES, { headers: tool(`walk_${number}`) });
    }
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: { data: Entry[]; pagination: { cursor: string | null; hasMore: boolean } } = (
        await caller("GET", `${LOGS}?action=dispute.listed&limit=5${cursor && `&cursor=${cursor}`}`)
      ).body;
      expect(page.pagination).toEqual({
        cursor: page.pagination.hasMore ? expect.any(String) : null,
        hasMore: page.data.length === 5 && seen.length + 5 < 23,
        rowCount: page.data.length,
      });
      seen.push(...page.data.map((entry: Entry) => String(entry.metadata["mcpTool"])));
      ({ cursor } = page.pagination);
      await tenant.call("GET", DISPUTES, { headers: tool("arrives_later") });
    }
    expect(seen).toEqual(Array.from({ length: 23 }, (_, index) => `walk_${22 - index}`));
  });

  verifies("AU-07");
  it("includes the times of from and to", async () => {
    at().clock.advance(MINUTE);
    const moment = new Date(at().clock()).toISOString();
    await admin.call("GET", DISPUTES, { headers: tool("at_the_moment") });
    at().clock.advance(MINUTE);
    const found = await entries(`?from=${moment}&to=${moment}`);
    expect(found.map((entry) => entry.metadata["mcpTool"])).toEqual(["at_the_moment"]);
    const offset = encodeURIComponent(moment.replace("Z", "+00:00"));
    expect(await entries(`?from=${offset}&to=${moment}`)).toHaveLength(1);
    expect((await entries(`?from=${moment.slice(0, 10)}&limit=1`)).length).toBe(1);
    expect(await entries(`?from=${moment}&to=2000-01-01`)).toEqual([]);
    for (const wrong of ["yesterday", "2026-13-01", "2026-02-30", "12", "2026-01-01T00:00:00"]) {
      expect([wrong, (await read("GET", `${LOGS}?from=${wrong}`)).status]).toEqual([wrong, 400]);
    }
  });

  verifies("AU-08");
  it("matches endpoint, status code, action and schedule exactly", async () => {
    expect((await entries("?endpoint=/audit-logs")).length).toBeGreaterThan(0);
    expect(await entries("?endpoint=/audit-log")).toEqual([]);
    const refused = await entries("?statusCode=400&action=dispute.created");
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map((entry) => entry.statusCode))).toEqual(new Set([400]));
    expect(await entries("?action=dispute")).toEqual([]);
    expect(await entries("?scheduleId=none")).toEqual([]);
    expect((await read("GET", `${LOGS}?statusCode=4xx`)).status).toBe(400);
  });

  verifies("AU-09");
  it("searches endpoint, action and the named metadata with q, and nothing else", async () => {
    await admin.call("GET", DISPUTES, { headers: tool("needle_tool") });
    expect((await entries("?q=NEEDLE_")).length).toBe(1);
    expect((await entries("?q=dispute.LIST")).length).toBeGreaterThan(0);
    expect((await entries("?q=/disputes/{")).length).toBeGreaterThan(0);
    const [entry] = await entries("?limit=1");
    for (const hidden of [admin.userId, entry?.id ?? "", "%", "dispute_listed", "\u001f"]) {
      expect([hidden, await entries(`?q=${encodeURIComponent(hidden)}`)]).toEqual([hidden, []]);
    }
  });

  verifies("AU-10");
  it("accepts up to 200 characters in q", async () => {
    const q = (text: string) => read("GET", `${LOGS}?q=${encodeURIComponent(text)}`);
    expect((await q("😀".repeat(200))).status).toBe(200);
    expect((await q("x".repeat(201))).status).toBe(400);
  });

  verifies("AU-11", "T-19", "D-AUD-4");
  it("accepts a limit from 1 to 100000", async () => {
    for (const [limit, status] of [
      ["1", 200],
      ["100000", 200],
      ["0", 400],
      ["100001", 400],
      ["1.5", 400],
      ["many", 400],
    ] as const) {
      const reply = await read("GET", `${LOGS}?limit=${limit}`);
      expect([limit, reply.status]).toEqual([limit, status]);
      if (status === 400) expect(reply.body.error.code).toBe("BAD_REQUEST");
    }
  });

  verifies("AU-13", "T-22");
  it("returns entries and accepts cursors of the own tenant only", async () => {
    await at().tenant("audit-other");
    const other = await at().exportCaller("audit-other");
    const { data } = (await other("GET", LOGS)).body;
    expect(data.map(({ action, tenantId }: Entry) => [action, tenantId])).toEqual([
      ["auth.logged_in", "audit-other"],
    ]);
    const { pagination } = (await read("GET", `${LOGS}?limit=1`)).body;
    expect((await other("GET", `${LOGS}?limit=1&cursor=${pagination.cursor}`)).status).toBe(400);
    const altered = alterToken(pagination.cursor);
    expect((await read("GET", `${LOGS}?limit=1&cursor=${altered}`)).status).toBe(400);
    expect((await read("GET", `${LOGS}?limit=1&action=x&cursor=${pagination.cursor}`)).status).toBe(
      400,
    );
  });

  verifies("AU-14");
  it("stores ids and the tool as metadata, but no text of people and no secret", async () => {
    const { body } = await admin.call("POST", DISPUTES, {
      body: { ...dispute, poNumber: "canary-po" },
      headers: tool("disputes_create"),
    });
    await admin.call("POST", `${DISPUTES}/${body.disputeId}/disputenotes`, {
      body: { content: "canary-note" },
      headers: tool("dispute_notes_create"),
    });
    await admin.call("GET", "/dispute/v1/tenants/{t}/assignees/by-email/canary@mail.example", {
      headers: tool("assignees_get"),
    });
    await admin.call("GET", DISPUTES, { headers: tool("Not A Tool; canary") });
    const log = JSON.stringify(await stored("audit"));
    expect(log).not.toContain("canary");
    expect(log).not.toContain(admin.token);
  });

  verifies("C-58");
  it("chains a tenant's entries so that every alteration is found", async () => {
    const rows = await stored("audit");
    const head = await findRow(at().store.read, "audit_heads", { tenant_id: "audit" });
    let previous = "";
    for (const [index, row] of rows.entries()) {
      expect([row.seq, row.prev_hash, row.hash]).toEqual([
        index + 1,
        previous,
        at().store.auditKey.link(row),
      ]);
      previous = row.hash;
    }
    expect([head.seq, head.hash]).toEqual([rows.length, previous]);
    const [first] = rows;
    if (first !== undefined)
      expect(at().store.auditKey.link({ ...first, status_code: 999 })).not.toBe(first.hash);
  });

  verifies("EX-05");
  it("refuses unknown and repeated query names in the format of the export service", async () => {
    for (const query of ["?colour=red", "?limit=1&limit=2", "?q="]) {
      const { status, body } = await read("GET", `${LOGS}${query}`);
      expect(status).toBe(400);
      expect(body).toEqual({
        error: { code: "BAD_REQUEST", message: expect.any(String), requestId: expect.any(String) },
      });
    }
    const none = await at().call("GET", LOGS);
    expect([none.status, none.body.error.code]).toEqual([401, "UNAUTHORIZED"]);
    const wrong = await at().exportCaller("audit", ["export:read"]);
    expect((await wrong("GET", LOGS)).body.error.code).toBe("FORBIDDEN");
  });
});
