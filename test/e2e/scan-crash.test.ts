import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import { type Ready, type Running, startCli, whenReady } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "scan-crash";
const PASSWORD = "correct horse battery staple";
const END = Buffer.alloc(4);

/** A malware scanner that accepts every file, and responds only after `answers` is set. */
const slowScanner = async () => {
  const state = { asked: 0, answers: false };
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    let received = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (!received.subarray(-END.length).equals(END)) return;
      state.asked += 1;
      if (state.answers) socket.end("stream: OK\0");
    });
  });
  return {
    state,
    url: `clamd://127.0.0.1:${await listen(server)}`,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
};

describe.each(dialects)("a platform killed during a scan ($name)", ({ create }) => {
  let database: Database;
  let scanner: Awaited<ReturnType<typeof slowScanner>>;
  let running: Running;
  let ready: Ready;
  let token: string;

  const start = async (): Promise<void> => {
    const env = { ...database.environment, RECEIVABLES_SCANNER: scanner.url };
    running = startCli(["platform", "--port", "0"], env);
    ready = await whenReady(running);
  };

  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(ready.baseUrl + path.replace("{t}", TENANT), {
      method,
      headers: { "X-Platform-Auth": token, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, text).toBe(true);
    return JSON.parse(text) as Record<string, string>;
  };

  beforeEach(async () => {
    database = await create();
    scanner = await slowScanner();
    const store = await database.open();
    const needs = { store, clock: systemClock, newId: randomId };
    await createTenant(needs, { tenantId: TENANT, name: TENANT });
    const names = { tenantId: TENANT, email: "a@crash.example", firstName: "A", lastName: "B" };
    await createUser(needs, { ...names, roles: ["Administrator"] }, async () => PASSWORD);
    await store.close();
    await start();
    token = "";
    const login = { email: "a@crash.example", password: PASSWORD };
    token = (await ask("POST", "/authentication/v1/login", login))["accessToken"] ?? "";
  });
  afterEach(async () => {
    await running.end("SIGTERM");
    scanner.close();
    await database.remove();
  });

  /** As if the dead process's lease had run out. */
  const letTimePass = async (): Promise<void> => {
    const store = await database.open();
    const { numUpdatedRows } = await store.transaction((tx) =>
      tx
        .updateTable("jobs")
        .set({ leased_until: 0 })
        .where("kind", "=", "dispute_attachment")
        .executeTakeFirst(),
    );
    expect(Number(numUpdatedRows)).toBe(1);
    await store.close();
  };

  verifies("AT-05");
  it("completes the scan after its restart", async () => {
    const root = "/dispute/v1/tenants/{t}";
    await ask("POST", `${root}/categories`, { code: "C", description: "C" });
    const reason = { code: "R", description: "R", categoryCode: "C" };
    const { reasonId } = await ask("POST", `${root}/reasons`, reason);
    const { disputeId } = await ask("POST", `${root}/disputes`, {
      amount: 1,
      accountNumber: "A",
      documentNumber: "D",
      reasonId,
    });
    const files = `${root}/disputes/${disputeId}/attachments`;
    const announced = await ask("POST", files, { fileName: "claim.txt" });
    const uploadUrl = announced["uploadUrl"] ?? "";
    expect(new URL(uploadUrl).origin).toBe(ready.baseUrl);
    const sent = await fetch(uploadUrl, { method: "PUT", body: "They charged us twice." });
    expect(sent.status).toBe(204);
    await expect.poll(() => scanner.state.asked).toBe(1);
    const one = `${files}/${announced["attachmentId"]}`;
    expect((await ask("GET", one))["status"]).toBe("PendingScan");

    await running.end("SIGKILL");
    scanner.state.answers = true;
    await letTimePass();
    await start();

    await expect.poll(async () => (await ask("GET", one))["status"]).toBe("Available");
    expect(scanner.state.asked).toBe(2);
    const { downloadUrl = "" } = await ask("GET", one);
    expect(await (await fetch(downloadUrl)).text()).toBe("They charged us twice.");
  });
});
