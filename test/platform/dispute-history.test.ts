import { expect, it } from "vitest";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const CLIENTS = 10;
const STEPS = 30;

type Event = { kind: "write" | "read"; from: number; to: number; version: number; amount: number };

onEveryStore("a dispute that ten clients change and read at once", (at) => {
  verifies("C-21");
  it("has one order of changes, which every response agrees with", async () => {
    const admin = await at().tenant("histories");
    await configure(admin);
    const body = { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
    const { disputeId } = (await admin.call("POST", DISPUTES, { body })).body;
    const path = `${DISPUTES}/${disputeId}`;
    const events: Event[] = [];
    let tick = 0;
    const work = async (client: number): Promise<void> => {
      for (let step = 1; step <= STEPS; step += 1) {
        const isWrite = (client + step) % 2 === 0;
        const amount = client * 1000 + step;
        const from = (tick += 1);
        const reply = isWrite
          ? await admin.call("PUT", path, { body: { amount } })
          : await admin.call("GET", path);
        const to = (tick += 1);
        expect(reply.status, reply.text).toBe(200);
        const version = Number(/\.(\d+)"$/.exec(reply.headers.get("etag") ?? "")?.[1]);
        const kind = isWrite ? "write" : "read";
        events.push({ kind, from, to, version, amount: reply.body.amount });
        if (isWrite) expect(reply.body.amount).toBe(amount);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
    const writes = events.filter(({ kind }) => kind === "write");
    const amounts = new Map([[1, 1], ...writes.map((one) => [one.version, one.amount] as const)]);
    // Each change has a version of its own, without a gap.
    expect([...amounts.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: writes.length + 1 }, (_, index) => index + 1),
    );
    for (const { version, amount } of events) expect(amount).toBe(amounts.get(version));
    // What ended before another began comes before it.
    for (const later of events) {
      const least = later.kind === "write" ? 1 : 0;
      for (const earlier of events) {
        if (earlier.to >= later.from) continue;
        expect(later.version - earlier.version).toBeGreaterThanOrEqual(least);
      }
    }
  });
});
