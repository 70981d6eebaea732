import { expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import type { WireReply, WireRequest } from "../../src/client/port.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";

const health = (extensions: unknown, status = 200): WireReply => ({
  status,
  headers: {},
  body: JSON.stringify({ status: "ok", extensions }),
});

const clientOf = (answer: (request: WireRequest) => WireReply) => {
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
