import { BlockedAddress, resolvePublic, type HostNeeds } from "../../kit/network.ts";

/**
 * Returns the allowed addresses of a callback's host. Unencrypted callbacks are allowed only to addresses of the allow-
 * list. @throws {BlockedAddress}, or the error of the resolver
 */
export const resolveCallback = async (url: URL, needs: HostNeeds): Promise<string[]> => {
  const addresses = await resolvePublic(url.hostname, needs);
  const isPlain = url.protocol === "http:";
  if (isPlain && !addresses.every((address) => needs.allowed.includes(address))) {
    throw new BlockedAddress(url.hostname);
  }
  return addresses;
};
