import { beforeAll, expect, it } from "vitest";
import { faultsOf } from "../support/configuration.ts";
import {
  ACCOUNT,
  accountAt,
  DOCUMENT,
  documentAt,
  INGEST,
  ingestTenant,
  recordAt,
  useIngestTenant,
} from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;

onEveryStore("the ingest API over HTTP", (at) => {
  const call = useIngestTenant(at, "dialect");

  beforeAll(() => call("PUT", accountAt("A"), { body: ACCOUNT }));

  verifies("T-12", "D-ERR-7");
  it("refuses unknown and unauthorized callers in its own format", async () => {
    const { call: anybody } = at();
    for (const headers of [{}, { "X-API-Key": "rcvx_wrong" }, { "X-Platform-Api-Key": "x" }]) {
      const refused = await anybody("GET", accountAt("A"), { headers });
      expect(refused.status).toBe(401);
      expect(refused.body).toEqual({ error: "unauthorized", message: "Send a valid X-API-Key." });
      expect(refused.headers.get("www-authenticate")).not.toBeNull();
    }
    const reader = await at().exportCaller("dialect", ["ingest:read", "export:manage"]);
    const writer = await at().exportCaller("dialect", ["ingest:write"]);
    const [read, write] = [
      await writer("GET", accountAt("A")),
      await reader("PUT", accountAt("A")),
    ];
    expect([read.status, read.body.error, write.status, write.body.error]).toEqual([
      403,
      "forbidden",
      403,
      "forbidden",
    ]);
    expect(read.body.message).toContain("ingest:read");
    expect(write.body.message).toContain("ingest:write");
  });

  verifies("D-AUTH-9");
  it("refuses a person's session or key", async () => {
    const person = await at().tenant("people");
    expect((await person.call("GET", accountAt("A"))).status).toBe(401);
  });

  verifies("D-ING-11");
  it("serves a document whose number is the name of another route", async () => {
    const made = await call("PUT", documentAt("summary"), {
      body: { ...DOCUMENT, account_number: "A" },
    });
    const patched = await call("PATCH", documentAt("summary"), { body: { po_number: "PO-1" } });
    const read = await call("GET", documentAt("summary"));
    expect([made.status, patched.status, read.status]).toEqual([201, 200, 200]);
    expect(read.body).toMatchObject({ po_number: "PO-1" });
    const refused = await call("DELETE", documentAt("summary"));
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, GET, PUT, PATCH"]);
  });

  verifies("D-GEN-7", "D-ERR-7");
  it("reports faults of the body itself", async () => {
    const send = (raw: string, type = "application/json") =>
      call("PUT", accountAt("BODY"), { raw, headers: { "Content-Type": type } });
    const answers = [
      await send("{"),
      await send("name=x", "application/x-www-form-urlencoded"),
      await send(" "),
      await send("[]"),
      await send('"x"'),
      await send(`{"a":${"[".repeat(40)}${"]".repeat(40)}}`),
      await send("12345678901234567890"),
    ];
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [400, "invalid_json"],
      [415, "unsupported_media_type"],
      [422, "validation_failed"],
      [422, "validation_failed"],
      [422, "validation_failed"],
      [422, "validation_failed"],
      [422, "validation_failed"],
    ]);
    expect(faultsOf((await send("[]")).body)).toEqual({ "": "type" });
    for (const { body } of answers) expect(body.message).toMatch(/\.$/);
    expect((await call("GET", accountAt("BODY"))).status).toBe(404);
  });

  verifies("D-GEN-7");
  it("accepts bodies up to 5 MiB", async () => {
    const sized = (bytes: number) => {
      const body = { ...ACCOUNT, data_providers: { filling: "" } };
      const empty = Buffer.byteLength(JSON.stringify(body));
      body.data_providers.filling = "x".repeat(bytes - empty);
      return call("PUT", accountAt("LARGE"), { body });
    };
    expect((await sized(5 * MIB)).status).toBe(201);
    const refused = await sized(5 * MIB + 1);
    expect([refused.status, refused.body.error]).toEqual([413, "payload_too_large"]);
  });

  verifies("D-GEN-10");
  it("distinguishes unknown paths from wrong methods", async () => {
    const missing = await call("GET", `${INGEST}/customers/A`);
    expect([missing.status, missing.body.error]).toEqual([404, "not_found"]);
    const wrong = await call("DELETE", accountAt("A"));
    expect([wrong.status, wrong.body.error, wrong.headers.get("allow")]).toEqual([
      405,
      "method_not_allowed",
      expect.stringContaining("PATCH"),
    ]);
    const query = await call("GET", `${accountAt("A")}?expand=all`);
    expect([query.status, faultsOf(query.body)]).toEqual([422, { expand: "unknown" }]);
  });

  verifies("D-GEN-8");
  it("a creating POST with a key creates one record, with any number", async () => {
    const reference = "once 🙂";
    const requests: [string, object][] = [
      [accountAt("ü/once"), { ...ACCOUNT, colour: "red" }],
      [documentAt("株/once"), DOCUMENT],
      [`${accountAt("A")}/notes`, { reference, body: "x" }],
    ];
    for (const [path, body] of requests) {
      const headers = { "Idempotency-Key": `key ${path.length}` };
      const first = await call("POST", path, { body, headers });
      expect(first.status, first.text).toBe(201);
      const second = await call("POST", path, { body, headers });
      expect([second.status, second.text]).toEqual([201, first.text]);
      for (const name of ["etag", "x-ignored-fields"]) {
        expect(second.headers.get(name)).toBe(first.headers.get(name));
      }
      expect(second.headers.get("idempotency-replayed")).toBe("true");
      expect((await call("POST", path, { body })).status).toBe(409);
      const other = await call("POST", path, { body: { ...body, comment: "other" }, headers });
      expect([other.status, other.body.error]).toEqual([422, "idempotency_key_reused"]);
    }
    const headers = { "Idempotency-Key": "corrected" };
    const bad = await call("POST", accountAt("FIXED"), { body: {}, headers });
    expect([bad.status, bad.body.error]).toEqual([422, "validation_failed"]);
    const good = await call("POST", accountAt("FIXED"), { body: ACCOUNT, headers });
    expect(good.status).toBe(201);
  });

  verifies("D-AUD-3");
  it("records changes, and reads of MCP tools, with the name of their outcome", async () => {
    const tenant = await ingestTenant(at(), "logged");
    const tool = { "X-Platform-Mcp-Tool": "a_tool", "X-Platform-Client": "mcp" };
    const account = recordAt(tenant, accountAt("A"));
    const document = recordAt(tenant, documentAt("D"));
    await account.put(ACCOUNT);
    await account.post(ACCOUNT, tool);
    await recordAt(tenant, accountAt("B")).post(ACCOUNT, tool);
    await recordAt(tenant, accountAt("C")).put(ACCOUNT, tool);
    await account.put(ACCOUNT, tool);
    await account.put({}, tool);
    await account.get(undefined, tool);
    await account.patch({ phone: "1" }, tool);
    await account.note({ reference: "N", body: "x" }, tool);
    await tenant("GET", `${accountAt("A")}/notes/N`, { headers: tool });
    await document.post(DOCUMENT, tool);
    await document.put(DOCUMENT, tool);
    await document.patch({}, tool);
    await document.get(undefined, tool);
    await document.close({ closure_reason: "paid" }, tool);
    await document.close({ closure_reason: "paid" }, tool);
    const rows = await findRows(at().store.read, "audit_logs", { tenant_id: "logged" }, "seq");
    expect(rows.map((row) => `${row.action} ${row.status_code}`)).toEqual([
      "account.created 201",
      "account.created 409",
      "account.created 201",
      "account.created 201",
      "account.replaced 200",
      "account.replaced 422",
      "account.read 200",
      "account.updated 200",
      "account_note.created 201",
      "account_note.read 200",
      "document.created 201",
      "document.replaced 200",
      "document.updated 200",
      "document.read 200",
      "document.closed 200",
      "document.closed 409",
    ]);
    expect(rows[0]?.endpoint).toBe("/api/v1/ingest/accounts/{account_number}");
    expect(JSON.parse(rows[1]?.metadata ?? "")).toEqual({
      account_number: "A",
      resourceId: "A",
      actor: expect.any(String),
      mcpTool: "a_tool",
    });
    const closures = at().store.read.selectFrom("document_closures").select("source");
    expect(await closures.where("tenant_id", "=", "logged").execute()).toEqual([{ source: "mcp" }]);
  });
});

onEveryStore(
  "limits of the ingest API",
  (at) => {
    verifies("D-RATE");
    it("limits ingest and export requests separately", async () => {
      const a = await ingestTenant(at(), "rate-a");
      const b = await ingestTenant(at(), "rate-b");
      const exported = await at().exportCaller("rate-a");
      const ask = () => a("GET", accountAt("A"));
      for (let left = 2; left >= 0; left -= 1) {
        const { status, headers } = await ask();
        expect(status).toBe(404);
        expect(headers.get("ratelimit-policy")).toBe('"minute";q=3;w=60, "hour";q=5;w=3600');
        expect(headers.get("ratelimit")).toContain(`"minute";r=${left};t=60`);
      }
      const refused = await ask();
      expect([refused.status, refused.body]).toEqual([
        429,
        { error: "rate_limited", message: "Too many requests. Wait 60 seconds." },
      ]);
      expect(refused.headers.get("retry-after")).toBe("60");
      expect((await b("GET", accountAt("A"))).status).toBe(404);
      const logs = "/api/v1/remittance-export/audit-logs";
      expect((await exported("GET", logs)).status).toBe(200);
      at().clock.advance(60_000);
      const later = [await ask(), await ask(), await ask()];
      expect(later.map(({ status }) => status)).toEqual([404, 404, 429]);
    });
  },
  { limits: { exportPerMinute: 3, exportPerHour: 5 } },
);
