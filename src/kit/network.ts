import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { trimEndOf } from "./text.ts";

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses the strict textual form of an address; shorthand such as `127.1` is refused. */
const parseAddress = (text: string): Parsed | undefined =>
  isIP(text) === 0 ? undefined : ipaddr.parse(text);

/** Unwraps an IPv4-mapped IPv6 address, so that both spellings of one address compare equal. */
const unwrap = (address: Parsed): Parsed =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;

const parseNetwork = (text: string): [Parsed, number] => {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
};

/** A set of networks. Text that is not an address is in none of them. */
export type Networks = { includes(address: string): boolean };

/** Creates a set from addresses and networks in CIDR form. */
export const createNetworks = (cidrs: readonly string[]): Networks => {
  const networks = cidrs.map(parseNetwork);
  return {
    includes(text) {
      // A zone names an interface of this machine, and only link-local addresses have one.
      const address = text.includes("%") ? undefined : parseAddress(text);
      if (address === undefined) return false;
      return [address, unwrap(address)].some((form) =>
        networks.some(([base, bits]) => form.kind() === base.kind() && form.match(base, bits)),
      );
    },
  };
};

/** Returns the address in a URL's `hostname`, where IPv6 addresses have brackets. */
export const trimBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

/**
 * Returns the name in a Host header, without its port; undefined for other text. A dot at its end only says that the
 * name is complete.
 */
export const findHostName = (host: string | null | undefined): string | undefined =>
  host ? URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "") : undefined;

/** Whether a host, as a URL or a listening address names it, is this machine alone. */
export const isLoopback = (host: string): boolean => {
  const name = trimBrackets(host);
  return name === "localhost" || parseAddress(name)?.range() === "loopback";
};

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]", "localhost."];

/** Returns a URL of this machine under each of its loopback names, the given one first; any other URL alone. */
export const listLoopbackAliases = (url: URL): URL[] => {
  if (!isLoopback(url.hostname)) return [url];
  const aliases = LOOPBACK_NAMES.filter((name) => name !== url.hostname).map((name) => {
    const alias = new URL(url);
    alias.hostname = name;
    return alias;
  });
  return [url, ...aliases];
};

export const isNetwork = (text: string): boolean => {
  const [address = "", bits, ...rest] = text.split("/");
  const parsed = address.includes("%") ? undefined : parseAddress(address);
  if (parsed === undefined || rest.length > 0) return false;
  const width = parsed.kind() === "ipv4" ? 32 : 128;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
};

/** Returns the first and the last address of an IPv4 network in CIDR form; undefined for any other text. */
export const findRange = (cidr: string): [first: string, last: string] | undefined => {
  if (!isNetwork(cidr) || !ipaddr.IPv4.isValid(cidr.split("/")[0] ?? "")) return undefined;
  const whole = cidr.includes("/") ? cidr : `${cidr}/32`;
  const first = ipaddr.IPv4.networkAddressFromCIDR(whole);
  return [first.toString(), ipaddr.IPv4.broadcastAddressFromCIDR(whole).toString()];
};

// IANA assigns global unicast addresses from this block only.
const GLOBAL_UNICAST_V6 = createNetworks(["2000::/3"]);
// Returned by the 6bone (RFC 3701) and never assigned again.
const RETURNED_V6 = createNetworks(["3ffe::/16"]);

/** Whether an address is a public address of the internet; addresses that embed an IPv4 address are not. */
export const isGlobal = (text: string): boolean => {
  const address = text.includes("%") ? undefined : parseAddress(text);
  if (address?.range() !== "unicast") return false;
  return (
    address.kind() === "ipv4" || (GLOBAL_UNICAST_V6.includes(text) && !RETURNED_V6.includes(text))
  );
};

const BITS_PER_SITE = 64;

/**
 * Returns the network that limits count an address by: an IPv4 address itself, the /64 of an IPv6 address, because one
 * subscriber owns at least that many. An IPv4 address embedded by mapping or NAT64 (RFC 6052) counts as itself.
 * Undefined for text that is not an address.
 */
export const findClientNetwork = (text: string): string | undefined => {
  const parsed = parseAddress(text.replace(/%.*/, ""));
  if (parsed === undefined) return undefined;
  const address = unwrap(parsed);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  if (address.match(NAT64, 96)) {
    return new ipaddr.IPv4(address.toByteArray().slice(-4)).toString();
  }
  const site = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${BITS_PER_SITE}`);
  return `${site.toString()}/${BITS_PER_SITE}`;
};

/** Returns the network of a client, or the text itself where it is not an address. */
export const toClientNetwork = (text: string): string => findClientNetwork(text) ?? text;

const NAT64 = ipaddr.IPv6.parse("64:ff9b::");

/** A host that has no address which may be connected to. */
export class BlockedAddress extends Error {
  constructor(host: string) {
    super(`${host} is, or resolves to, an address that is not public`);
    this.name = "BlockedAddress";
  }
}

/** A name's addresses; rejects where it has none. */
export type Resolve = (name: string) => Promise<string[]>;

// Names of this machine or this network, regardless of their DNS records.
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** Settings for checking a URL's host. Callers must connect to a checked address itself: a second lookup can differ. */
export type HostNeeds = {
  resolve: Resolve;
  /** Addresses that are good though they are not public. */
  allowed: Networks;
};

/** All addresses of a URL's `hostname`, each of them good. Throws {@link BlockedAddress}, or what `resolve` throws. */
export const resolvePublic = async (
  hostname: string,
  { resolve, allowed }: HostNeeds,
): Promise<string[]> => {
  const host = trimBrackets(hostname);
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const local = LOCAL_NAME.test(trimEndOf(host.toLowerCase(), "."));
  const good = (address: string): boolean =>
    allowed.includes(address) || (!local && isGlobal(address));
  if (addresses.length === 0 || !addresses.every(good)) throw new BlockedAddress(hostname);
  return addresses;
};

/** For a connection to these addresses, so that a name cannot mean something else a moment after its check. */
export const createPinnedLookup = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all }, done) => {
    if (all === true) return done(null, found);
    const { address = "", family } = found[0] ?? {};
    return done(null, address, family);
  };
};

/** Whether requests to a URL are protected on their way: by TLS, or because they stay on this machine. */
export const isGuarded = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
};
