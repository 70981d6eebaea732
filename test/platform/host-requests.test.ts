import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const LIMITS = { gatewayPerMinute: 5, loginPerMinute: 3 };
const DEPARTMENTS = "/dispute/v1/tenants/{t}/departments";

onEveryStore("requests as proxies and hosts send them", (at) => {
  verifies("HS-04");
  it("may have weak tags, empty headers and repeated values", async () => {
    const { call } = await at().tenant("acme");
    const made = await call("POST", DEPARTMENTS, { body: { code: "A", description: "x" } });
    const id = made.body.departmentId;
    const path = `${DEPARTMENTS}/${id}`;
    const etag = (await call("GET", path)).headers.get("etag") ?? "";
    const put = (ifMatch: string, description: string) =>
      call("PUT", path, { headers: { "If-Match": ifMatch }, body: { description } });
    expect((await put(`W/${etag}`, "y")).status).toBeLessThan(300);
    expect((await put(`W/${etag}`, "z")).status).toBe(412);
    expect((await put("", "z")).status).toBeLessThan(300);
    const twice = await call("GET", `${DISPUTES}?Status=0&Page=1&Page=1&PageSize=5`);
    expect(twice.status).toBe(200);
    expect((await call("GET", `${DISPUTES}?Status=0&Page=1&Page=2`)).status).toBe(400);
  });

  it("may not have a part of a body only", async () => {
    const { call } = await at().tenant("parts");
    const headers = { "Content-Range": "bytes 0-9/100" };
    const refused = await call("POST", DEPARTMENTS, { headers, body: { code: "A" } });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Content-Range")]);
  });

  it("may not be compressed", async () => {
    const { call } = await at().tenant("gzip");
    const headers = { "Content-Encoding": "gzip" };
    const refused = await call("POST", DEPARTMENTS, { headers, raw: "x" });
    expect([refused.status, refused.headers.get("accept-encoding")]).toEqual([415, "identity"]);
  });

  it("have a page where a browser opens an address that does not exist", async () => {
    const get = (accept: string) => at().call("GET", "/a/nothing", { headers: { Accept: accept } });
    const page = await get("text/html,application/xhtml+xml,*/*;q=0.8");
    expect([page.status, page.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    expect(page.text).toContain('<a href="../docs">');
    expect((await get("*/*")).body).toMatchObject({ code: "not_found" });
  });

  verifies("HS-05");
  it("may begin with a byte order mark and name ids in capitals; blanks are no text", async () => {
    const { call } = await at().tenant("marks");
    const raw = `\ufeff${JSON.stringify({ code: "A", description: "x" })}`;
    const made = await call("POST", DEPARTMENTS, { raw });
    expect(made.status).toBe(201);
    const id = String(made.body.departmentId).toUpperCase();
    expect((await call("GET", `${DEPARTMENTS}/${id}`)).status).toBe(200);
    for (const description of [" ", "\r\n\t", "\u00a0"]) {
      const blank = await call("POST", DEPARTMENTS, { body: { code: "B", description } });
      expect([blank.status, blank.text]).toEqual([400, expect.stringContaining("blanks only")]);
    }
  });
});

onEveryStore(
  "limits of requests",
  (at) => {
    verifies("C-116");
    it("count a person, with however many sessions and keys", async () => {
      at().clock.advance(2 * MINUTE);
      const { email, password } = await at().tenant("many");
      at().clock.advance(2 * MINUTE);
      const login = () =>
        at().call("POST", "/authentication/v1/login", { body: { email, password } });
      const tokens = [await login(), await login()].map(({ body }) => String(body.accessToken));
      const statuses = [];
      for (let index = 0; index < 6; index += 1) {
        const headers = { "X-Platform-Auth": tokens[index % 2] ?? "" };
        const answer = await at().call("GET", DEPARTMENTS.replace("{t}", "many"), { headers });
        statuses.push(answer.status);
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    });

    verifies("C-116");
    it("count checks of sessions by person, too", async () => {
      const { email, password } = await at().tenant("checked");
      at().clock.advance(2 * MINUTE);
      const login = () =>
        at().call("POST", "/authentication/v1/login", { body: { email, password } });
      const tokens = [await login(), await login()].map(({ body }) => String(body.accessToken));
      const statuses = [];
      for (let index = 0; index < 6; index += 1) {
        const body = { accessToken: tokens[index % 2] };
        statuses.push(
          (await at().call("POST", "/authentication/v1/verify-session", { body })).status,
        );
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    });

    it("count logins from a known address, for each person there", async () => {
      const [one, two] = [await at().tenant("one"), await at().tenant("two")];
      at().clock.advance(2 * MINUTE);
      const login = async ({ email, password }: { email: string; password: string }) =>
        (await at().call("POST", "/authentication/v1/login", { body: { email, password } })).status;
      const statuses = [];
      for (let tries = 0; tries < 4; tries += 1) statuses.push(await login(one));
      expect(statuses).toEqual([200, 200, 200, 429]);
      expect(await login(two)).toBe(200);
    });
  },
  { limits: LIMITS },
);
