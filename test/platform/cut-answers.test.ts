import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createPlatformListener, type Served, serve } from "../../src/server/serve.ts";
import type { Snapshot } from "../../src/platform/store/port.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { copyDispute } from "../support/many-disputes.ts";
import { type RawSocket, rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "cut";
const COPIES = 1500;
const SECRET = "relation disputes, row 1100";

/** Yields rows until enough of them have been sent that the client has the beginning of the body. */
async function* failing<Row>(rows: AsyncIterable<Row>, after: number): AsyncGenerator<Row> {
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (count > after) throw new Error(SECRET);
    yield row;
  }
}

onEveryStore("an answer that fails in the middle of its body", (at) => {
  const admin = useTenant(at, TENANT);
  let served: Served;

  beforeAll(async () => {
    await configure(admin);
    const body = { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
    await admin.call("POST", DISPUTES, { body });
    const { store } = at();
    await copyDispute(store, TENANT, COPIES);
    served = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
  });
  afterEach(() => {
    at().logged.length = 0;
  });
  afterAll(() => served.close());

  const requestList = async (): Promise<RawSocket> => {
    const connection = await rawSocket(served.url);
    connection.say(
      [
        `GET ${DISPUTES.replace("{t}", TENANT)} HTTP/1.1`,
        "Host: a",
        "Connection: close",
        `X-Platform-Auth: ${admin.token}`,
        "\r\n",
      ].join("\r\n"),
    );
    return connection;
  };

  const failAfter = (rows: number): void => {
    const { store } = at();
    const open = store.snapshot.bind(store);
    vi.spyOn(store, "snapshot").mockImplementation(async (options) => {
      const view: Snapshot = await open(options);
      return { ...view, stream: (query) => failing(view.stream(query), rows) };
    });
  };

  it("ends with its last chunk if no error occurs", async () => {
    expect(await (await requestList()).ended()).toMatch(/\]\r\n0\r\n\r\n$/);
    expect(at().logged).toEqual([]);
  });

  verifies("C-99");
  it("has no last chunk, so that a client notices, and is logged in one line", async () => {
    const printed = [vi.spyOn(console, "error"), vi.spyOn(console, "info")];
    failAfter(1100);
    const connection = await requestList();
    const heard = await connection.ended();
    expect(heard).toMatch(/^HTTP\/1\.1 200 /);
    expect(heard.length).toBeGreaterThan(64 * 1024);
    expect(heard).not.toMatch(/0\r\n\r\n$/);
    expect(heard).not.toContain(SECRET);
    expect(heard).not.toMatch(/node_modules|at .*\.ts:/);
    for (const print of printed) expect(print).not.toHaveBeenCalled();
    const { logged } = at();
    expect(logged).toHaveLength(1);
    const [line = ""] = logged;
    expect(line.trimEnd()).not.toContain("\n");
    expect(JSON.parse(line)).toMatchObject({ level: "error", event: "answer.cut", error: SECRET });
  });

  verifies("C-99");
  it("has no last chunk if its first row fails", async () => {
    failAfter(0);
    const connection = await requestList();
    const heard = await connection.ended();
    expect(heard).not.toMatch(/0\r\n\r\n$/);
    expect(heard).not.toContain(SECRET);
    expect(at().logged.map((line) => JSON.parse(line).level)).toEqual(["error"]);
  });
});
