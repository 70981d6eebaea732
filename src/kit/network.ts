import { BlockList, isIP, type LookupFunction } from "node:net";

/** A set of addresses. Whatever is not an address is in none. */
export type Networks = { includes(address: string): boolean };

const versionOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** Addresses, and networks as CIDR. */
export const networksOf = (cidrs: readonly string[]): Networks => {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", bits] = cidr.split("/");
    const version = versionOf(address);
    list.addSubnet(address, bits === undefined ? widthOf(version) : Number(bits), version);
  }
  // A zone names an interface of this machine, and only addresses that stay on a link have one.
  return {
    includes: (address) =>
      isIP(address) !== 0 && !address.includes("%") && list.check(address, versionOf(address)),
  };
};

const widthOf = (version: "ipv4" | "ipv6"): number => (version === "ipv4" ? 32 : 128);

/** Whether a host, as a URL or a listening address names it, is this machine alone. */
export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
};

export const isNetwork = (text: string): boolean => {
  const [address = "", bits, ...rest] = text.split("/");
  if (isIP(address) === 0 || address.includes("%") || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widthOf(versionOf(address)))
  );
};

// The registries of special-purpose addresses: RFC 6890 and what has come since.
const SPECIAL_V4 = networksOf([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);

// All that is assigned to single interfaces of the internet; what embeds an IPv4 address lies outside, or below.
const UNICAST_V6 = networksOf(["2000::/3"]);
const SPECIAL_V6 = networksOf([
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3ffe::/16",
  "3fff::/20",
]);

/** Whether an address is one of the public internet, in whatever form it is written. */
export const isGlobal = (address: string): boolean => {
  const version = isIP(address);
  if (version === 4) return !SPECIAL_V4.includes(address);
  return version === 6 && UNICAST_V6.includes(address) && !SPECIAL_V6.includes(address);
};

/** A host that has no address which may be connected to. */
export class BlockedAddress extends Error {
  constructor(host: string) {
    super(`${host} is, or resolves to, an address that is not public`);
    this.name = "BlockedAddress";
  }
}

/** A name's addresses; rejects where it has none. */
export type Resolve = (name: string) => Promise<string[]>;

// Names that mean this machine or this network, whatever a resolver says of them.
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** Where a URL's host may be connected to: a checked address must be connected to itself, not looked up again. */
export type HostNeeds = {
  resolve: Resolve;
  /** Addresses that are good though they are not public. */
  allowed: Networks;
};

/** All addresses of a URL's `hostname`, each of them good. Throws {@link BlockedAddress}, or what `resolve` throws. */
export const checkedAddresses = async (
  hostname: string,
  { resolve, allowed }: HostNeeds,
): Promise<string[]> => {
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const local = LOCAL_NAME.test(host.toLowerCase().replace(/\.+$/, ""));
  const good = (address: string): boolean =>
    allowed.includes(address) || (!local && isGlobal(address));
  if (addresses.length === 0 || !addresses.every(good)) throw new BlockedAddress(hostname);
  return addresses;
};

/** For a connection to these addresses, so that a name cannot mean something else a moment after its check. */
export const pinnedTo = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all }, done) => {
    if (all === true) return done(null, found);
    const { address = "", family } = found[0] ?? {};
    return done(null, address, family);
  };
};

/** Whether nobody on the way can read or alter what goes to a URL: by TLS, or since it stays on this machine. */
export const isGuarded = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
};
