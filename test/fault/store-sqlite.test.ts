import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DISPUTES, type Reply } from "../support/platform.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { checkIntegrity } from "./check.ts";
import { dump } from "./dump.ts";
import { type Answer, startServer } from "./server.ts";
import {
  AUDIT_LOGS,
  checkLog,
  checkUnavailable,
  create,
  rowsWith,
  type Service,
  startService,
  TENANT,
  TOLD,
} from "./service.ts";
import { verifies } from "../support/verifies.ts";

const sqlite = dialects.find(({ name }) => name === "sqlite") as Dialect;

let service: Service;

const pragma = async (setting: string): Promise<number> => {
  const { rows } = await service.at.store.transaction((tx) =>
    sql<Record<string, number>>`${sql.raw(`pragma ${setting}`)}`.execute(tx),
  );
  return Object.values(rows[0] ?? {})[0] ?? 0;
};

describe("a SQLite file", () => {
  beforeEach(async () => {
    service = await startService(sqlite);
  });
  afterEach(() => service.at.close());

  verifies("C-06");
  it("refuses writes while it is full, keeps its data, and continues once there is room", async () => {
    const first = (await create(service, "first")).body;
    const note = { content: "n".repeat(10_000) };
    const notes = `${DISPUTES}/${first.disputeId}/disputenotes`;
    const small = (await service.admin.call("POST", notes, { body: { content: "small" } })).body;
    const reader = await service.at.exportCaller(TENANT);
    await pragma(`max_page_count = ${await pragma("page_count")}`);
    let refused: Reply | undefined;
    for (let tries = 0; tries < 500 && refused === undefined; tries += 1) {
      const reply = await create(service, `fill ${tries}`);
      if (reply.status !== 201) refused = reply;
    }
    checkUnavailable(refused ?? (await create(service, "never")));
    let told: Reply | undefined;
    for (let tries = 0; tries < 500 && told === undefined; tries += 1) {
      const reply = await reader("GET", `${AUDIT_LOGS}?limit=1`);
      if (reply.status !== 200) told = reply;
    }
    expect(told?.status).toBe(503);
    expect(told?.body.error.code).toBe("UNAVAILABLE");
    const before = await dump(service.at.store);
    checkUnavailable(await service.admin.call("POST", notes, { body: note, headers: TOLD }));
    checkUnavailable(
      await service.admin.call("PUT", `${notes}/${small.disputeNoteId}`, {
        body: note,
        headers: TOLD,
      }),
    );
    checkUnavailable(await create(service, "later", "p".repeat(128)));
    // Without a log entry not even a refusal is answered.
    checkUnavailable(await service.admin.call("GET", `${DISPUTES}/none`, { headers: TOLD }));
    expect(await dump(service.at.store)).toEqual(before);
    const read = await service.admin.call("GET", `${DISPUTES}/${first.disputeId}`);
    expect(read.body).toEqual(first);
    expect((await service.at.call("GET", "/health")).status).toBe(200);

    await pragma("max_page_count = 1000000");
    const made = await create(service, "later", "p".repeat(128));
    expect([made.status, made.headers.get("Idempotency-Replayed")]).toEqual([201, null]);
    expect((await create(service, "later", "p".repeat(128))).body).toEqual(made.body);
    expect(await rowsWith(service, "p".repeat(128))).toBe(1);
    expect((await reader("GET", AUDIT_LOGS)).status).toBe(200);
    await checkLog(service);
    await checkIntegrity(service.at.store);
  });

  verifies("C-06");
  it("answers later while another process locks it, and records every answer", async () => {
    await create(service, "before");
    const path = join(service.database.environment["RECEIVABLES_DATA"] ?? "", "receivables.db");
    expect(existsSync(path)).toBe(true);
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    const before = await dump(service.at.store);
    checkUnavailable(await create(service, "during"));
    checkUnavailable(await service.admin.call("GET", DISPUTES, { headers: TOLD }));
    expect(await dump(service.at.store)).toEqual(before);
    other.exec("rollback");
    other.close();
    expect((await create(service, "during")).status).toBe(201);
    expect((await service.admin.call("GET", DISPUTES, { headers: TOLD })).body).toHaveLength(2);
    await checkLog(service);
    // Each refused write waits 15 seconds for the lock.
  }, 240_000);
});

const limitFiles = (pid: number, bytes: string): void => {
  execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
};

const canLimit = process.platform === "linux" && existsSync("/usr/bin/prlimit");

describe.skipIf(!canLimit)("a process whose writes to disk fail", () => {
  beforeEach(async () => {
    service = await startService(sqlite);
  });
  afterEach(() => service.at.close());

  verifies("C-06");
  it("returns 503 with one warning each, and continues when writes succeed again", async () => {
    const server = await startServer(service.database.environment, 4);
    try {
      const path = DISPUTES.replace("{t}", TENANT);
      const post = (key: string): Promise<Answer> =>
        server.send({
          method: "POST",
          path,
          headers: { "X-Platform-Auth": token, "Idempotency-Key": key, ...TOLD },
          body: { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" },
        });
      const login = { email: service.admin.email, password: service.admin.password };
      const opened = { method: "POST", path: "/authentication/v1/login", body: login } as const;
      const token: string = (await server.send(opened)).body.accessToken;
      expect((await post("before")).status).toBe(201);
      const before = await dump(service.at.store);
      limitFiles(server.pid, "4096");
      const keys = Array.from({ length: 12 }, (_, index) => `failing ${index}`);
      const failed = await Promise.all(keys.map(post));
      expect(failed.map(({ status }) => status)).toEqual(keys.map(() => 503));
      const reading = { method: "GET", path, headers: { "X-Platform-Auth": token } } as const;
      expect((await server.send(reading)).body).toHaveLength(1);
      limitFiles(server.pid, "unlimited");
      expect(await dump(service.at.store)).toEqual(before);
      const made = await Promise.all(keys.map(post));
      expect(made.map(({ status }) => status)).toEqual(keys.map(() => 201));
      expect((await server.send(reading)).body).toHaveLength(1 + keys.length);
      const lines = server.stderr().trim().split("\n");
      const events = lines.map((line) => JSON.parse(line) as { level: string; event: string });
      expect(events.every(({ level }) => level === "warn")).toBe(true);
      const told = events.filter(({ event }) => event === "store.unavailable");
      expect(told).toHaveLength(keys.length);
      await checkLog(service);
      await checkIntegrity(service.at.store);
    } finally {
      await server.stop();
    }
  });
});
