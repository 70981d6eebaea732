import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../src/client/client.ts";
import type { WireReply, WireRequest } from "../../src/client/port.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";

const health = (extensions: unknown, status = 200): WireReply => ({
  status,
  headers: {},
  body: JSON.stringify({ status: "ok", extensions }),
});

const clientOf = (answer: (request: WireRequest) => WireReply | Promise<WireReply>) => {
  let now = 0;
  const seen: string[] = [];
  const client = createClient({
    transport: {
      requestMs: MINUTE,
      getWithBody: true,
      async send(request) {
        seen.push(`${request.service} ${request.target}`);
        return answer(request);
      },
      close: async () => {},
    },
    headerWord: "Platform",
    log: silentLog,
    clock: () => now,
  });
  return { client, seen, advance: (ms: number) => (now += ms) };
};

it("takes an extension from the service that answers it, and no unknown one", async () => {
  const { client } = clientOf(({ service }) =>
    service === "gateway"
      ? health(["disputes.summary", "payments.summary", "no.such"])
      : health(["accounts.list"]),
  );
  expect([...(await client.extensions())].toSorted()).toEqual([
    "accounts.list",
    "disputes.summary",
  ]);
});

it("reads /health once in 5 minutes", async () => {
  const { client, seen, advance } = clientOf(() => health(["accounts.list"]));
  await client.extensions();
  await client.extensions();
  expect(seen).toEqual(["gateway /health", "export /health"]);
  advance(5 * MINUTE);
  await client.extensions();
  expect(seen).toHaveLength(4);
});

it.each([
  ["no such route", () => health([], 404)],
  ["another form", () => health("accounts.list")],
  [
    "a failure",
    () => {
      throw new Error("refused");
    },
  ],
])("has no extensions after %s", async (_title, answer) => {
  const { client } = clientOf(answer);
  expect((await client.extensions()).size).toBe(0);
});

describe("a platform that starts slowly", () => {
  const START_MS = 8000;
  const open = () => {
    const ready = new Promise((resolve) => setTimeout(resolve, START_MS));
    return clientOf(async ({ signal }) => {
      await ready;
      signal?.throwIfAborted();
      return health(["accounts.list", "disputes.summary"]);
    });
  };

  // Time passes in steps of the test; signals with a deadline are those of the runtime.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), ms);
      return controller.signal;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it("is asked once, and known to the call after the one that could not wait", async () => {
    const { client, seen } = open();
    const first = client.extensions();
    await vi.advanceTimersByTimeAsync(5000);
    expect((await first).size).toBe(0);
    const second = client.extensions();
    await vi.advanceTimersByTimeAsync(START_MS - 5000);
    expect((await second).size).toBe(2);
    expect((await client.extensions()).size).toBe(2);
    expect(seen).toEqual(["gateway /health", "export /health"]);
  });

  it("is waited for by a call that needs an extension", async () => {
    const { client } = open();
    const needed = client.extensions(undefined, true);
    await vi.advanceTimersByTimeAsync(START_MS);
    expect((await needed).has("disputes.summary")).toBe(true);
  });

  it("does not hold a call that was canceled", async () => {
    const { client } = open();
    const canceled = new AbortController();
    const asked = client.extensions(canceled.signal, true);
    canceled.abort();
    expect((await asked).size).toBe(0);
  });

  it("keeps what it has announced when it does not answer later", async () => {
    let isDown = false;
    const { client, advance } = clientOf(() => {
      if (isDown) throw new Error("refused");
      return health(["disputes.summary"]);
    });
    expect((await client.extensions()).size).toBe(1);
    isDown = true;
    advance(6 * MINUTE);
    expect((await client.extensions()).size).toBe(1);
  });
});
