import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createResolve } from "../../src/kit/resolve.ts";

const TYPES: Record<number, "A" | "AAAA"> = { 1: "A", 28: "AAAA" };
const NXDOMAIN = 3;
const SERVFAIL = 2;

type Zone = Record<string, { A?: number[]; AAAA?: number[]; failure?: number }>;

const nameIn = (query: Buffer): string => {
  const labels: string[] = [];
  for (let at = 12; query[at] !== 0; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString("latin1", at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join(".").toLowerCase();
};

/** A reply of RFC 1035: the question again, then an address if the zone has one. */
const replyTo = (query: Buffer, zone: Zone): Buffer => {
  const name = nameIn(query);
  const end = 12 + name.length + 2 + 4;
  const type = TYPES[query.readUInt16BE(end - 4)] ?? "A";
  const { [type]: address, failure } = zone[name] ?? { failure: NXDOMAIN };
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (failure ?? 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  const question = query.subarray(12, end);
  if (address === undefined) return Buffer.concat([head, question]);
  const answer = Buffer.from([0xc0, 12, 0, type === "A" ? 1 : 28, 0, 1, 0, 0, 0, 9, 0]);
  return Buffer.concat([head, question, answer, Buffer.from([address.length, ...address])]);
};

describe("names", () => {
  const zone: Zone = {
    "both.example": { A: [93, 184, 215, 14], AAAA: [0x20, 1, ...Array(13).fill(0), 7] },
    "four.example": { A: [10, 0, 0, 1] },
    "broken.example": { failure: SERVFAIL },
  };
  const asked: string[] = [];
  let server: Socket;
  let resolve: ReturnType<typeof createResolve>;

  beforeEach(async () => {
    asked.length = 0;
    server = createSocket("udp4", (query, { port }) => {
      asked.push(nameIn(query));
      server.send(replyTo(query, zone), port, "127.0.0.1");
    });
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    resolve = createResolve([`127.0.0.1:${server.address().port}`]);
  });
  afterEach(() => server.close());

  it("resolve to addresses of both families, or of one", async () => {
    await expect(resolve("both.example")).resolves.toEqual(["93.184.215.14", "2001::7"]);
    await expect(resolve("four.example")).resolves.toEqual(["10.0.0.1"]);
  });

  it("without a dot are resolved by the system", async () => {
    const addresses = await resolve("localhost");
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((one) => one !== "::1" && !one.startsWith("127."))).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("are resolved by the system if name servers do not know them", async () => {
    // Every system parses this as an address, without a query.
    await expect(resolve("127.1")).resolves.toEqual(["127.0.0.1"]);
    expect(asked).toContain("127.1");
  });

  it("are not resolved if name servers fail", async () => {
    await expect(resolve("broken.example")).rejects.toThrow(/ESERVFAIL/);
  });
});
