import { once } from "node:events";
import { request } from "node:http";
import { expect, it } from "vitest";
import { createPlatformListener, serve } from "../../src/server/serve.ts";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const DISPUTE_ROUTE = "/dispute/v1/tenants/{tenantId}/disputes/{disputeId}";

verifies("OP-33");
onEveryStore("the log of requests", (at) => {
  /** The lines of one request, parsed. */
  const linesOf = (requestId: string | null) =>
    at()
      .lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line["requestId"] === requestId);

  it("has one line for an answered request, with its route and without ids from its path", async () => {
    const admin = await at().tenant("logged");
    await configure(admin);
    const made = await admin.call("POST", DISPUTES, {
      body: { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" },
    });
    expect(made.status).toBe(201);
    const { headers, text } = await admin.call("GET", `${DISPUTES}/${made.body.disputeId}`, {
      headers: { "X-Platform-Mcp-Tool": "disputes_get" },
    });
    const lines = linesOf(headers.get("x-request-id"));
    expect(lines).toEqual([
      {
        time: expect.any(String),
        level: "info",
        event: "http.request",
        server: "platform",
        requestId: headers.get("x-request-id"),
        method: "GET",
        route: DISPUTE_ROUTE,
        status: 200,
        ms: expect.any(Number),
        bytes: Buffer.byteLength(text),
        tenantId: "logged",
        principal: admin.userId,
        tool: "disputes_get",
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(made.body.disputeId);
  });

  it("counts the bytes of a streamed list when its last byte is out", async () => {
    const admin = await at().tenant("streamed");
    const { headers, text } = await admin.call("GET", DISPUTES);
    expect(linesOf(headers.get("x-request-id"))).toMatchObject([
      { status: 200, bytes: Buffer.byteLength(text) },
    ]);
  });

  it.each([
    ["GET", "/dispute/v1/tenants/x/disputes/secret-id", 401, DISPUTE_ROUTE, "unauthenticated"],
    ["GET", "/downloads/secret-id?expires=1&sig=secret", 403, "/downloads/{attachmentId}", /refus/],
    ["DELETE", "/health", 405, "/health", "method_not_allowed"],
    ["GET", "/secret-id", 404, "(none)", "not_found"],
  ])("names route and code of a refused %s %s", async (method, path, status, route, code) => {
    const { headers, text } = await at().call(method, path);
    const [line, ...others] = linesOf(headers.get("x-request-id"));
    expect(line).toMatchObject({ method, status, route, bytes: Buffer.byteLength(text) });
    expect(line?.["code"]).toMatch(code);
    expect(others).toEqual([]);
    expect(JSON.stringify(line)).not.toContain("secret");
  });

  it.each([
    [
      "/authentication/v1/login",
      "application/json",
      JSON.stringify({ email: "ann@x.example", password: "canary" }),
    ],
    [
      "/account/password",
      "application/x-www-form-urlencoded",
      "email=ann@x.example&password=canary&new=n&again=n",
    ],
  ])("has a failed login at warn, with its address, at %s", async (path, type, body) => {
    const served = await serve(createPlatformListener(at().platform), {
      host: "127.0.0.1",
      port: 0,
    });
    const sent = request(served.url + path, {
      method: "POST",
      localAddress: "127.0.0.7",
      headers: { "Content-Type": type, "X-Request-Id": `login-${path.length}` },
    });
    sent.end(body);
    const [response] = await once(sent, "response");
    expect(response.statusCode).toBe(401);
    response.resume();
    await once(response, "end");
    await served.close();
    const lines = linesOf(`login-${path.length}`);
    expect(lines).toMatchObject([
      { level: "warn", event: "login.failed", address: "127.0.0.7" },
      { level: "info", event: "http.request", status: 401, route: path },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/canary|ann@/);
  });
});
