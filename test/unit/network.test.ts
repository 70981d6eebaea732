import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BlockedAddress,
  resolvePublic,
  isGlobal,
  isNetwork,
  createNetworks,
} from "../../src/kit/network.ts";
import { verifies } from "../support/verifies.ts";

/** First and last address of each network that is refused, and beside them the public neighbours. */
const V4: [network: string, first: string, last: string, ...beside: string[]][] = [
  ["0.0.0.0/8", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64/10", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127/8", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["169.254/16", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0/24", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2/24", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.88.99/24", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18/15", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100/24", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113/24", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224/4 and 240/4", "224.0.0.0", "255.255.255.255", "223.255.255.255"],
];

const V6: [network: string, ...addresses: string[]][] = [
  ["::", "::"],
  ["::1", "::1", "0:0:0:0:0:0:0:1"],
  ["v4-mapped", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::ffff:10.0.0.1"],
  ["v4-compatible", "::127.0.0.1", "::7f00:1"],
  ["64:ff9b::/96", "64:ff9b::", "64:ff9b::a9fe:a9fe", "64:ff9b::ffff:ffff"],
  ["64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::/64", "100::", "100::ffff:ffff:ffff:ffff"],
  ["Teredo", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["6to4", "2002::", "2002:7f00:1::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["the returned 3ffe::/16", "3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fc00::/7", "fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::/10", "fe80::", "fe80::1%eth0", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fec0::/10", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["ff00::/8", "ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

const dotted = (bits: number): string =>
  [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");

const allowNone = createNetworks([]);

describe("public addresses", () => {
  verifies("C-22");
  it.each(V4)("%s is not public, its neighbours are", (_network, first, last, ...beside) => {
    expect([first, last].filter(isGlobal)).toEqual([]);
    expect(beside.filter((address) => !isGlobal(address))).toEqual([]);
  });

  verifies("C-22");
  it.each(V6)("%s is not public", (_network, ...addresses) => {
    expect(addresses.filter(isGlobal)).toEqual([]);
  });

  it("hosts of the internet are public", () => {
    const known = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00::1"];
    expect(known.filter((address) => !isGlobal(address))).toEqual([]);
  });

  it("text that is not an address is not public", () => {
    const others = ["", "localhost", "127.1", "0x7f000001", "2130706433", "8.8.8.8/32", "1.2.3"];
    expect(others.filter(isGlobal)).toEqual([]);
  });

  verifies("C-22");
  it("no IPv6 form of a private IPv4 address is public", () => {
    const refused = createNetworks([
      "10.0.0.0/8",
      "127.0.0.0/8",
      "169.254.0.0/16",
      "192.168.0.0/16",
    ]);
    const v4 = fc.nat(0xffff_ffff).filter((bits) => refused.includes(dotted(bits)));
    const privateV4 = fc.oneof(
      v4,
      fc.nat(0xff_ffff).map((low) => 0x7f00_0000 + low),
    );
    fc.assert(
      fc.property(privateV4, (bits) => {
        const [high, low] = [bits >>> 16, bits & 0xffff].map((half) => half.toString(16));
        const forms = [
          `::ffff:${high}:${low}`,
          `::${high}:${low}`,
          `::ffff:0:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `2002:${high}:${low}::`,
          `2001:0:${high}:${low}::`,
        ];
        expect([dotted(bits), ...forms].filter(isGlobal)).toEqual([]);
      }),
    );
  });
});

describe("checked hosts", () => {
  const answering =
    (...addresses: string[]) =>
    async () =>
      addresses;
  const check = (hostname: string, addresses: string[], allowed = allowNone) =>
    resolvePublic(hostname, { resolve: answering(...addresses), allowed });

  it("return every address of a name", async () => {
    await expect(check("a.example", ["8.8.8.8", "2a00::1"])).resolves.toEqual([
      "8.8.8.8",
      "2a00::1",
    ]);
  });

  verifies("C-25");
  it("are refused if any address of a name is private", async () => {
    await expect(check("a.example", ["8.8.8.8", "10.0.0.1"])).rejects.toThrow(BlockedAddress);
    await expect(check("a.example", ["fd00::1", "8.8.8.8"])).rejects.toThrow(BlockedAddress);
    await expect(check("a.example", [])).rejects.toThrow(BlockedAddress);
  });

  verifies("C-23");
  it.each([
    "http://2130706433",
    "https://0x7f.1",
    "https://0177.0.0.1",
    "https://127.1",
    "https://127.0.0.1.",
    "https://[::ffff:7f00:1]",
    "https://１２７.0.0.1",
    "https://①②⑦.⓪.⓪.①",
    "https://127%2e0.0.1",
  ])("%s is an address and needs no resolver", async (url) => {
    const resolve = async (): Promise<string[]> => {
      throw new Error("asked");
    };
    const { hostname } = new URL(url);
    await expect(resolvePublic(hostname, { resolve, allowed: allowNone })).rejects.toThrow(
      BlockedAddress,
    );
  });

  verifies("C-23");
  it.each([
    "localhost",
    "LOCALHOST.",
    "a.localhost..",
    "metadata.google.internal",
    "printer.local.",
    "box.home.arpa",
  ])("%s stays refused though a resolver says it were public", async (name) => {
    await expect(check(name, ["8.8.8.8"])).rejects.toThrow(BlockedAddress);
  });

  it("include allowed networks, by literal, name and local name", async () => {
    const allowed = createNetworks(["127.0.0.0/8", "::1", "fd00:1::/32"]);
    await expect(check("127.0.0.1", [], allowed)).resolves.toEqual(["127.0.0.1"]);
    await expect(check("[fd00:1::7]", [], allowed)).resolves.toEqual(["fd00:1::7"]);
    await expect(check("localhost", ["127.0.0.1", "::1"], allowed)).resolves.toHaveLength(2);
    await expect(check("localhost", ["127.0.0.1", "10.0.0.1"], allowed)).rejects.toThrow();
    await expect(check("10.0.0.1", [], allowed)).rejects.toThrow(BlockedAddress);
  });
});

describe("networks", () => {
  it("are addresses or CIDR", () => {
    const good = ["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8", "0.0.0.0/0", "::/128"];
    const bad = ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "a/8", "10.0.0.0/8/8", "fe80::1%1/64"];
    expect(good.filter((text) => !isNetwork(text))).toEqual([]);
    expect(bad.filter(isNetwork)).toEqual([]);
  });
});
