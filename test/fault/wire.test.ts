import { connectionOf } from "../support/pdf.ts";
import { once } from "node:events";
import { request as ask } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPlatformListener, serve, type Served } from "../../src/server/serve.ts";
import { operations } from "../../src/contract/index.ts";
import { onEveryStore, type Person, type Reply } from "../support/platform.ts";
import { type Records, seed } from "../support/records.ts";
import { SAMPLES } from "../support/samples.ts";
import { checkRefusal, checkSuccess } from "./answers.ts";
import { brokenRequests, exchange, requestsTo, SILENCE, statusesIn } from "./broken-requests.ts";
import { build, recipes, shapeOf } from "./recipes.ts";
import { watchRecords } from "./watch.ts";
import { verifies } from "../support/verifies.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
const TENANT = "wired";

const BODY = '{"accessToken":"x"}';
const TARGET = {
  host: "platform.test",
  path: "/health",
  answered: [200],
  post: { path: "/authentication/v1/logout", headers: [], body: BODY },
};
const { get: GET, post: POST } = requestsTo(TARGET);
const LENGTH = `Content-Length: ${BODY.length}`;

onEveryStore("bytes from the network", (at) => {
  let served: Served;
  let admin: Person;
  let records: Records;
  let touches: () => Promise<number>;

  beforeAll(async () => {
    admin = await at().tenant(TENANT);
    const auditor = await at().exportCaller(TENANT);
    const connectionId = await connectionOf(at().store, TENANT);
    const callers = { auditor, ingester: auditor, exporter: auditor };
    records = await seed({
      admin,
      tenantId: TENANT,
      keyId: "none",
      ...callers,
      connectionId,
      store: at().store,
      mark: "w",
    });
    touches = await watchRecords(at().store);
    served = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
  });
  afterAll(() => served.close());

  const port = (): number => Number(new URL(served.url).port);

  verifies("C-41", "C-55", "C-57");
  it.each([
    ...brokenRequests(TARGET),
    ["percent signs without digits", GET("/dispute/v1/tenants/%zz/disputes/%"), [401]] as const,
    ["an encoded NUL", GET("/dispute/v1/tenants/%00/disputes/%00"), [401]] as const,
  ])("%s gets an allowed response, and the next request its own", async (_what, text, allowed) => {
    const before = await touches();
    const heard = await exchange(port(), text);
    const statuses = statusesIn(heard);
    for (const status of statuses) expect(allowed, heard.slice(0, 500)).toContain(status);
    if (!allowed.includes(SILENCE)) expect(statuses.length, "an answer").toBeGreaterThan(0);
    expect(heard.toLowerCase()).not.toContain("x-injected");
    expect(heard).not.toMatch(/node_modules|at .*\.ts:/);
    expect(statusesIn(await exchange(port(), GET("/health")))).toEqual([200]);
    expect(await touches()).toBe(before);
  });

  verifies("C-57");
  it("never takes the rest of a body for a request", async () => {
    const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    const kept = POST([`Content-Length: ${hidden.length}`], hidden).replace(
      "Connection: close\r\n",
      "",
    );
    expect(statusesIn(await exchange(port(), kept))).toEqual([400]);
  });

  verifies("C-57");
  it("lets a client read why a request is refused that it is still sending", async () => {
    const long = POST(["Content-Length: 4000000"], "x".repeat(4_000_000));
    for (const [text, reason] of [
      [long.replace("logout", `logout?${"x".repeat(20_000)}`), "more than 16384 bytes"],
      [`no HTTP ${long}`, "no valid HTTP/1.1 request"],
    ] as const) {
      const socket = connect(port(), "127.0.0.1");
      let heard = "";
      let reset: unknown = null;
      socket.on("data", (chunk) => (heard += String(chunk)));
      socket.on("error", (error) => (reset = error));
      socket.end(text);
      await once(socket, "close");
      expect(reset).toBeNull();
      expect(statusesIn(heard)).toHaveLength(1);
      expect(heard).toContain(reason);
    }
  });

  verifies("C-57");
  it("answers the request of a client that has ended its side, and survives a half request", async () => {
    const halved = connect(port(), "127.0.0.1");
    let heard = "";
    halved.on("data", (chunk) => (heard += String(chunk)));
    halved.end(GET("/health"));
    await once(halved, "close");
    expect(statusesIn(heard)).toEqual([200]);
    for (const text of ["", "G", "GET /health HTTP/1.1\r\nHo", POST([LENGTH], BODY.slice(0, 5))]) {
      const cut = connect(port(), "127.0.0.1");
      cut.end(Buffer.from(text, "latin1"));
      cut.resume();
      await once(cut, "close");
    }
    expect(statusesIn(await exchange(port(), GET("/health")))).toEqual([200]);
  });

  verifies("C-48");
  it("answers malformed percent-encoding in paths and queries with an error", async () => {
    const before = await touches();
    const disputes = `/dispute/v1/tenants/${TENANT}/disputes`;
    const odd = ["%zz", "%", "%00", "%F0%9F", "%ED%A0%80", "%2e%2e%2f", "__proto__", "%FF"];
    for (const text of odd) {
      for (const path of [
        `${disputes}/${text}`,
        `${disputes}/${text}/disputenotes/${text}`,
        `${disputes}?Sort=${text}`,
        `${disputes}?${text}=${text}`,
        `/dispute/v1/tenants/${text}/disputes`,
      ]) {
        const heard = await exchange(port(), GET(path, `X-Platform-Auth: ${admin.token}`));
        const [status = 0] = statusesIn(heard);
        expect([400, 403, 404], `${path}: ${heard}`).toContain(status);
        // Dot segments in a path are refused before the platform reads the request.
        const isSegment = text === "%2e%2e%2f" && !path.includes("?");
        expect(heard).toContain(isSegment ? "must not contain" : "application/problem+json");
      }
    }
    expect(await touches()).toBe(before);
  });

  describe("a GET with a body", () => {
    const withBody = operations.filter(({ method, body }) => method === "GET" && body !== null);

    const overHttp = async (built: ReturnType<typeof build>, body: string): Promise<Reply> => {
      const sent = ask(`${served.url}${built.path}`, {
        method: "GET",
        headers: {
          "Content-Type": "application/json",
          "X-Platform-Auth": admin.token,
          "Content-Length": Buffer.byteLength(body),
          ...built.headers,
        },
      });
      sent.end(body);
      const [response] = await once(sent, "response");
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      const headers = new Headers(response.headers);
      return {
        status: response.statusCode,
        headers,
        text,
        body: headers.get("content-type")?.includes("json") === true ? JSON.parse(text) : undefined,
      };
    };

    it.each(withBody.map((operation) => [operation.id, operation] as const))(
      `%s takes it as its twin does, and refuses what is wrong with it (FAULT_SEED=${SEED})`,
      async (id, operation) => {
        const before = await touches();
        const sample = SAMPLES[id]?.[0];
        const twin = operation.aliases[0];
        if (sample === undefined || twin === undefined) throw new Error(`${id} has no twin`);
        const args = { tenantId: TENANT, ...sample(records, "f") };
        const seen = new Set<number>();
        const shape = shapeOf(operation);
        for (const recipe of fc.sample(recipes(shape), { seed: SEED, numRuns: 60 })) {
          const built = build(shape, twin, args, { ...recipe, params: [], method: undefined });
          const reply = await overHttp(built, built.body ?? "");
          // A head that is too long never gets past Node.
          if (reply.status === 431) continue;
          if (reply.status >= 400) checkRefusal(operation, reply);
          else checkSuccess(operation, reply);
          seen.add(reply.status);
        }
        expect([...seen]).toEqual(expect.arrayContaining([200, 400]));
        expect(await touches()).toBe(before);
      },
    );
  });
});
