import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPlatformListener, type Served, serve } from "../../src/server/serve.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  useTenant,
} from "../support/platform.ts";
import { rawRequest, rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";

type Raw = { status: number; headers: Record<string, string | string[] | undefined>; text: string };

const send = (
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Raw> =>
  new Promise((resolve, reject) => {
    // Node sends the body of a GET only with a Content-Length.
    const length: Record<string, number> =
      body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const framed = { ...headers, ...length };
    const options = { port, host: "127.0.0.1", method, path, headers: framed };
    const sent = httpRequest(options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });

onEveryStore("the platform over HTTP", (at) => {
  const admin = useTenant(at, "http");
  let serving: Served;
  let port: number;
  let headers: Record<string, string>;
  const base = { amount: 5, accountNumber: "A/1 é%", documentNumber: "D", reasonCode: "WRONG" };

  beforeAll(async () => {
    await configure(admin);
    serving = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
    port = Number(new URL(serving.url).port);
    headers = {
      "X-Platform-Auth": admin.token,
      "Content-Type": "application/json",
      accept: "application/json",
    };
  });
  afterAll(() => serving.close());

  const path = (rest: string) => `/dispute/v1/tenants/http${rest}`;

  verifies("CONV-01", "CONV-03", "CONV-10", "T-01", "DR-16");
  it("a GET with a JSON body answers like its POST alias", async () => {
    const { body } = await admin.call("POST", DISPUTES, { body: base });
    const lookups: [string, object][] = [
      ["/disputes/by-dispute-ids", { disputeIds: [body.disputeId] }],
      [
        `/accounts/${encodeURIComponent(base.accountNumber)}/disputes/by-document-numbers`,
        { documentNumbers: ["D"], status: "Open" },
      ],
    ];
    for (const [rest, sent] of lookups) {
      const [got, posted] = await Promise.all(
        ["GET", "POST"].map((method) =>
          send(port, method, path(rest), headers, JSON.stringify(sent)),
        ),
      );
      expect([got?.status, JSON.parse(got?.text ?? "").length]).toEqual([200, 1]);
      expect(got?.text).toBe(posted?.text);
    }
    const bare = await send(port, "GET", path("/disputes/by-dispute-ids"), headers);
    expect(bare.status).toBe(400);
  });

  verifies("D-GEN-5", "C-55");
  it("every response has a request id, the client's if it is well-formed", async () => {
    const ask = async (id: string) =>
      (await admin.call("GET", DISPUTES, { headers: { "X-Request-Id": id } })).headers.get(
        "x-request-id",
      );
    expect(await ask("My_trace-1")).toBe("My_trace-1");
    for (const id of ["has space", "x".repeat(129), "semi;colon"]) {
      expect(await ask(id)).toMatch(/^[\da-f-]{36}$/);
    }
    const missing = await at().call("GET", "/nowhere", { headers: { "X-Request-Id": "lost" } });
    expect([missing.status, missing.body.requestId, missing.headers.get("x-request-id")]).toEqual([
      404,
      "lost",
      "lost",
    ]);
  });

  verifies("D-ERR-1");
  it("a refusal is a problem document without internal details", async () => {
    const { status, headers: sent, body } = await admin.call("GET", `${DISPUTES}/nothing`);
    expect(status).toBe(404);
    expect(sent.get("content-type")).toBe("application/problem+json");
    expect(body).toEqual({
      type: "urn:problem:not_found",
      title: "The record does not exist",
      status: 404,
      detail: "There is no dispute nothing.",
      instance: "/dispute/v1/tenants/http/disputes/nothing",
      code: "not_found",
      requestId: expect.any(String),
      errors: [],
    });
    const long = await admin.call("GET", `${DISPUTES}/${"x".repeat(128)}`);
    expect(long.body.detail).not.toContain("x".repeat(101));
  });

  verifies("D-GEN-10");
  it("distinguishes an unknown route from a wrong method", async () => {
    expect((await admin.call("GET", "/dispute/v1/tenants/{t}/colours")).status).toBe(404);
    const wrong = await admin.call("PATCH", `${DISPUTES}/1`);
    expect([wrong.status, wrong.body.code]).toEqual([405, "method_not_allowed"]);
    expect(wrong.headers.get("allow")).toBe("GET, PUT, DELETE");
    const exported = await at().call("DELETE", "/api/v1/remittance-export/audit-logs");
    expect([exported.status, exported.body.error.code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
  });

  verifies("D-GEN-7", "C-41");
  it.each([
    ["not json", "{amount}", "application/json", 400, "invalid_json"],
    [
      "another type",
      "amount=1",
      "application/x-www-form-urlencoded",
      415,
      "unsupported_media_type",
    ],
    ["text", "{}", "text/plain", 415, "unsupported_media_type"],
    ["an array", "[]", "application/json", 400, "invalid_request"],
    ["nothing", "", "application/json", 400, "invalid_request"],
    [
      "a deep body",
      `{"a":${"[".repeat(40)}${"]".repeat(40)}}`,
      "application/json",
      400,
      "invalid_request",
    ],
    ["a long array", `{"a":[${"1,".repeat(10_000)}1]}`, "application/json", 400, "invalid_request"],
    [
      "a huge body",
      `{"a":"${"x".repeat(1024 * 1024)}"}`,
      "application/json",
      413,
      "payload_too_large",
    ],
  ])("refuses %s", async (_what, raw, type, status, code) => {
    const reply = await admin.call("POST", DISPUTES, { raw, headers: { "Content-Type": type } });
    expect([reply.status, reply.body.code]).toEqual([status, code]);
  });

  verifies("D-GEN-7", "C-41");
  it("accepts input at the limits, and nothing beyond", async () => {
    const status = async (more: string) => {
      const raw = `${JSON.stringify(base).slice(0, -1)},"more":${more}}`;
      return (await admin.call("POST", DISPUTES, { raw })).status;
    };
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    // The body itself is the first level.
    expect([await status(nested(31)), await status(nested(32))]).toEqual([201, 400]);
    const items = (count: number) => `[${Array.from({ length: count }, () => 1).join()}]`;
    expect([await status(items(10_000)), await status(items(10_001))]).toEqual([201, 400]);
    const around = Buffer.byteLength(`${JSON.stringify(base)},"more":""`);
    const filled = (bytes: number) => `"${"x".repeat(bytes - around)}"`;
    const mib = 1024 * 1024;
    expect([await status(filled(mib)), await status(filled(mib + 1))]).toEqual([201, 413]);
  });

  verifies("D-GEN-7");
  it("refuses bytes that are not UTF-8, and stores none of them", async () => {
    const raw = new Uint8Array(
      Buffer.from(JSON.stringify({ ...base, documentNumber: "é" }), "latin1"),
    );
    const reply = await admin.call("POST", DISPUTES, { raw });
    expect([reply.status, reply.body.code]).toEqual([400, "invalid_json"]);
    const found = await admin.call("GET", `${DISPUTES}?DocumentNumber=%EF%BF%BD`);
    expect(found.body).toEqual([]);
  });

  verifies("D-GEN-7", "C-41");
  it("a body without a length is limited to the same size", async () => {
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(
          `POST ${path("/disputes")} HTTP/1.1\r\nHost: localhost\r\nX-Platform-Auth: ${admin.token}\r\n` +
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        const chunk = "x".repeat(64 * 1024);
        for (let sent = 0; sent < 20; sent++) {
          socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
        }
      });
      socket.once("data", (data) => {
        resolve(data.toString("latin1").split("\r\n")[0] ?? "");
        socket.destroy();
      });
      socket.once("error", reject);
    });
    expect(status).toContain("413");
  });

  verifies("C-41");
  it("answers the request after a body of GET that is too long", async () => {
    const head = (target: string, ...more: string[]): string[] => [
      `GET ${path(target)} HTTP/1.1`,
      "Host: localhost",
      `X-Platform-Auth: ${admin.token}`,
      ...more,
    ];
    const connection = await rawSocket(`http://127.0.0.1:${port}`);
    const chunked = ["Content-Type: application/json", "Transfer-Encoding: chunked", "", ""];
    connection.say(head("/disputes/by-dispute-ids", ...chunked).join("\r\n"));
    const chunk = "x".repeat(64 * 1024);
    for (let sent = 0; sent < 40; sent++) {
      connection.say(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    connection.say(`0\r\n\r\n${rawRequest(head("/disputes", "Connection: close"))}`);
    const answer = await connection.ended();
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
  });

  verifies("D-GEN-7", "C-50");
  it("duplicate keys: the last wins; prototype keys are plain data", async () => {
    const { body } = await admin.call("POST", DISPUTES, {
      raw: '{"amount":1,"amount":2,"accountNumber":"A","documentNumber":"P","reasonCode":"WRONG","__proto__":{"status":1},"constructor":{"prototype":{"x":1}}}',
    });
    expect([body.amount, body.status]).toEqual([2, 0]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  verifies("D-GEN-11");
  it("refuses U+0000 everywhere and over-long text, by path", async () => {
    const reply = await admin.call("POST", DISPUTES, {
      body: { ...base, poNumber: "a\u0000b", accountNumber: "x".repeat(129) },
    });
    expect(reply.status).toBe(400);
    expect(
      reply.body.errors.map((fault: { field: string; code: string }) => [fault.field, fault.code]),
    ).toEqual([
      ["accountNumber", "too_long"],
      ["poNumber", "format"],
    ]);
  });

  verifies("C-45");
  it("responses have security headers and no CORS", async () => {
    const { headers: sent } = await admin.call("GET", DISPUTES);
    expect(Object.fromEntries(sent)).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
    });
    expect(sent.get("access-control-allow-origin")).toBeNull();
  });

  verifies("C-48");
  it("text that looks like SQL is text", async () => {
    for (const text of [
      "' or 1=1 --",
      '"; drop table disputes; --',
      "%' union select * from users --",
    ]) {
      for (const name of ["ReasonName", "AssigneeId", "DocumentNumber"]) {
        const { status, body } = await admin.call(
          "GET",
          `${DISPUTES}?${name}=${encodeURIComponent(text)}`,
        );
        expect([status, body]).toEqual([200, []]);
      }
      expect((await admin.call("GET", `${DISPUTES}?Sort=${encodeURIComponent(text)}`)).status).toBe(
        400,
      );
      expect((await admin.call("GET", `${DISPUTES}/${encodeURIComponent(text)}`)).status).toBe(404);
    }
  });

  verifies("CONV-09", "DR-12", "T-18");
  it("uses the rights and names of the interface documents", async () => {
    const { body } = await admin.call("GET", `${CONFIGURATION}/reasons?visibility=Internal`);
    expect([body.code, body.errors[0].field]).toEqual(["invalid_parameter", "visibility"]);
  });

  it("answers HEAD without a body and releases the store", async () => {
    for (let round = 0; round < 20; round++) {
      const head = await send(port, "HEAD", path("/disputes"), headers);
      expect([head.status, head.text]).toEqual([200, ""]);
    }
  });

  it("reports without a credential that it is alive", async () => {
    expect((await at().call("GET", "/health")).body).toMatchObject({ status: "ok" });
  });
});
