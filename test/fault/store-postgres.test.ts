import { createServer, connect as dial, type Server as Relay, type Socket } from "node:net";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { createDice } from "../support/dice.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { StoreUnavailable } from "../../src/platform/store/port.ts";
import { DISPUTES } from "../support/platform.ts";
import { findRow } from "../support/rows.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { checkWorld } from "./check.ts";
import type { Server } from "./server.ts";
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
import { acknowledge, type Deed, emptyWorld, keepOwn, nextDeed } from "./world.ts";
import { signingIn } from "../support/signing.ts";
import { verifies } from "../support/verifies.ts";

const postgres = dialects.find(({ name }) => name === "postgres") as Dialect;

let service: Service;

/** Ends every connection of the platform to its database. */
const terminate = async (client: pg.Client): Promise<void> => {
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
};

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

const sendInProcess: Server["send"] = async ({ method, path, headers, body }) => {
  const reply = await service.at.call(method, path, {
    body,
    ...(headers === undefined ? {} : { headers }),
  });
  return { status: reply.status, body: reply.body, headers: Object.fromEntries(reply.headers) };
};

describe("a PostgreSQL server", () => {
  let client: pg.Client;
  beforeEach(async () => {
    service = await startService(postgres);
    client = new pg.Client(service.database.environment["DATABASE_URL"]);
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await service.at.close();
  });

  verifies("C-06");
  it(
    "causes some 503 when it drops connections, and never a partial change",
    { timeout: 120 * SECOND },
    async () => {
      const dice = createDice(7);
      const world = emptyWorld(TENANT, service.admin.token);
      const unsure: Deed[] = [];
      let asked = 0;
      let done = 0;
      const work = async (): Promise<void> => {
        const own: string[] = [];
        for (let turn = 0; turn < 40; turn += 1) {
          asked += 1;
          const deed = nextDeed(dice, world, own, `deed.${asked}`);
          const answer = await sendInProcess(deed);
          if (answer.status === 503) {
            unsure.push(deed);
            await pause(20);
            // The outcome is checked at the end, so the record gets no further requests.
            if ("id" in deed.change) own.splice(own.indexOf(deed.change.id), 1);
            continue;
          }
          acknowledge(world, deed, answer);
          done += 1;
          keepOwn(own, deed, answer);
        }
      };
      const ended = new AbortController();
      const cutting = (async () => {
        for (let cut = 0; cut < 12 && !ended.signal.aborted; cut += 1) {
          await pause(dice.whole(100, 400));
          await terminate(client);
        }
      })();
      await Promise.all(Array.from({ length: 12 }, work));
      ended.abort();
      await cutting;
      expect(unsure.length).toBeGreaterThan(0);
      expect(done).toBeGreaterThan(unsure.length);
      const fresh = await service.database.open();
      await checkWorld(fresh, world, unsure);
      await fresh.close();
      await expect.poll(async () => (await create(service, "after")).status).toBe(201);
    },
  );

  verifies("C-06");
  it(
    "cuts a list when it drops the connection, and keeps no view of it",
    { timeout: 120 * SECOND },
    async () => {
      await create(service, "many");
      const row = await findRow(service.at.store.read, "disputes", {});
      const copies = Array.from({ length: 2000 }, (_, index) => ({
        ...row,
        id: `copy ${index}`,
        code: `copy ${index}`,
        account_number: "A".repeat(100),
      }));
      for (let from = 0; from < copies.length; from += 500) {
        const some = copies.slice(from, from + 500);
        await service.at.store.transaction((tx) =>
          tx.insertInto("disputes").values(some).execute(),
        );
      }
      const list = async (): Promise<Response> => {
        const request = new Request(`http://platform.test${DISPUTES.replace("{t}", TENANT)}`, {
          headers: { "X-Platform-Auth": service.admin.token },
        });
        const response = await service.at.platform.fetch(request);
        // A connection whose end has not been noticed yet costs a 503.
        return response.status === 503 ? list() : response;
      };
      // More often than there are places for lists.
      for (let time = 0; time < 12; time += 1) {
        const response = await list();
        const reader = response.body?.getReader();
        await reader?.read();
        await terminate(client);
        const rest = (async () => {
          for (;;) if ((await reader?.read())?.done !== false) return "whole";
        })();
        await expect(rest).rejects.toThrow();
      }
      expect(await (await list()).json()).toHaveLength(1 + copies.length);
    },
  );
});

/** A relay between the platform and its database that can be cut. */
const createRelay = (target: { host: string; port: number }) => {
  const sockets = new Set<Socket>();
  let relay: Relay;
  let port = 0;
  const open = async (): Promise<number> => {
    relay = createServer((near) => {
      const far = dial(target);
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          near.destroy();
          far.destroy();
          sockets.delete(socket);
        });
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => {
      relay.listen(port, "127.0.0.1", resolve);
    });
    const address = relay.address();
    if (typeof address === "object" && address !== null) ({ port } = address);
    return port;
  };
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      relay.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { open, close };
};

describe("an address of PostgreSQL without a server", () => {
  let relay: ReturnType<typeof createRelay>;
  let nowhere: string;

  beforeEach(async () => {
    service = await startService(postgres, async ({ environment }) => {
      const url = new URL(environment["DATABASE_URL"] ?? "");
      relay = createRelay({ host: url.hostname, port: Number(url.port) });
      url.port = String(await relay.open());
      nowhere = url.href;
      return openPostgres(url.href, signingIn(environment["RECEIVABLES_DATA"] ?? ""));
    });
  });
  afterEach(async () => {
    await service.at.close();
    await relay.close();
  });

  verifies("C-06");
  it("is reported at once, at the start and later, until a server listens again", async () => {
    const reader = await service.at.exportCaller(TENANT);
    const made = (await create(service, "before")).body;
    await relay.close();
    await expect(openPostgres(nowhere, signingIn(""))).rejects.toThrow(StoreUnavailable);
    const path = `${DISPUTES}/${made.disputeId}`;
    const replies = await Promise.all([
      create(service, "during"),
      service.admin.call("GET", path),
      service.admin.call("GET", DISPUTES),
      service.admin.call("DELETE", path, { headers: TOLD }),
    ]);
    for (const reply of replies) checkUnavailable(reply);
    const told = await reader("GET", AUDIT_LOGS);
    expect([told.status, told.body.error.code]).toEqual([503, "UNAVAILABLE"]);
    expect((await service.at.call("GET", "/health")).status).toBe(200);
    expect((await service.at.call("GET", "/ready")).status).toBe(503);
    await relay.open();
    service.at.clock.advance(1000);
    expect((await service.at.call("GET", "/ready")).status).toBe(200);
    expect((await service.admin.call("GET", path)).body).toEqual(made);
    expect((await create(service, "during")).status).toBe(201);
    expect(await rowsWith(service, "during")).toBe(1);
    await checkLog(service);
  });
});
