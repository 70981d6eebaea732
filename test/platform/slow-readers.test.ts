import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { ViewExpired } from "../../src/platform/store/port.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { copyDispute } from "../support/many-disputes.ts";
import { verifies } from "../support/verifies.ts";

const COPIES = 1500;
/** Longer than a client may take for the first pieces of an answer. */
const TOO_LONG_MS = 31_000;

/** Yields rows as a slow database does: the second one when `more` resolves. */
async function* readSlowly<Row>(
  rows: AsyncIterable<Row>,
  more: () => Promise<void> | undefined,
): AsyncGenerator<Row, void, undefined> {
  for await (const row of rows) {
    yield row;
    await more();
  }
}

onEveryStore("whole lists of many disputes", (at) => {
  const admin = useTenant(at, "slow");
  let released: number;
  /** Whether views expire before anything is read. */
  let isExpired = false;
  /** Set by a test of a slow database. */
  let more: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    await configure(admin);
    const body = { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
    await admin.call("POST", DISPUTES, { body });
    const { store } = at();
    await copyDispute(store, "slow", COPIES);
    const open = store.snapshot.bind(store);
    released = 0;
    store.snapshot = async (options) => {
      const view = await open(options);
      if (isExpired) await view.close();
      let isReleased = false;
      const close = async (): Promise<void> => {
        await view.close();
        if (!isReleased) released += 1;
        isReleased = true;
      };
      const stream: typeof view.stream = (query) => readSlowly(view.stream(query), () => more?.());
      return { ...view, stream, close };
    };
  });
  afterEach(() => {
    vi.useRealTimers();
    more = undefined;
    isExpired = false;
  });

  const list = async (signal?: AbortSignal): Promise<Response> => {
    const path = DISPUTES.replace("{t}", "slow");
    const request = new Request(`http://platform.test${path}`, {
      headers: { "X-Platform-Auth": admin.token },
      ...(signal === undefined ? {} : { signal }),
    });
    return at().platform.fetch(request);
  };

  verifies("C-91", "OP-50");
  it("arrive whole", async () => {
    const rows = (await (await list()).json()) as unknown[];
    expect(rows).toHaveLength(COPIES + 1);
  });

  verifies("C-92", "OP-51");
  it("end with an error, and release their view, when the client reads too slowly", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const before = released;
    const response = await list();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    expect(released).toBe(before);
    await vi.advanceTimersByTimeAsync(TOO_LONG_MS);
    const readOn = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await expect(readOn()).rejects.toThrow(/too slowly|released/);
    await expect.poll(() => released).toBe(before + 1);
  });

  verifies("C-92", "OP-51");
  it("end with an error when their view was open for too long, however fast the client reads", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const before = released;
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    more = () => {
      reached.resolve();
      return gate.promise;
    };
    const response = await list();
    const ended = response.text().catch((error: unknown) => error);
    await reached.promise;
    await vi.advanceTimersByTimeAsync(TOO_LONG_MS);
    gate.resolve();
    expect(await ended).toBeInstanceOf(ViewExpired);
    await expect.poll(() => released).toBe(before + 1);
  });

  verifies("C-92");
  it("are refused with the cause when their view was open for too long before the first row", async () => {
    isExpired = true;
    for (const [method, path] of [
      ["GET", DISPUTES],
      ["POST", `${DISPUTES}/summary`],
    ] as const) {
      const reply = await admin.call(method, path, method === "POST" ? { body: {} } : {});
      expect([reply.status, reply.body]).toMatchObject([
        503,
        { code: "unavailable", detail: expect.stringContaining("Reading took too long") },
      ]);
      expect(reply.headers.get("retry-after")).toBe("5");
    }
  });

  verifies("C-87", "C-91");
  it("stop being read when the client disconnects", async () => {
    const before = released;
    const gone = new AbortController();
    const response = await list(gone.signal);
    await response.body?.cancel();
    gone.abort();
    await expect.poll(() => released).toBe(before + 1);
  });
});
