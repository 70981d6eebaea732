import { lazily } from "../../kit/lazily.ts";
import { type ClamdAddress, clamdScanner } from "./clamd.ts";
import type { Scanner } from "./port.ts";

const CLAMD_PORT = 3310;

const clamdAddress = (setting: string): ClamdAddress | undefined => {
  const [, path] = /^clamd:(\/(?!\/).+)$/.exec(setting) ?? [];
  if (path !== undefined) return { path };
  const [, host, bracketed, port = CLAMD_PORT] =
    /^clamd:\/\/(?:([A-Za-z0-9._-]+)|\[([0-9A-Fa-f:.]+)\])(?::(\d{1,5}))?\/?$/.exec(setting) ?? [];
  const name = host ?? bracketed;
  const number = Number(port);
  return name === undefined || number < 1 || number > 65_535
    ? undefined
    : { host: name, port: number };
};

// What it takes to look into files is loaded with the first of them.
const builtIn = (): Scanner => {
  const load = lazily(async () => (await import("./built-in.ts")).builtInScanner);
  return { scan: async (file) => (await load()).scan(file) };
};

/**
 * The built-in scanner where nothing is set, else clamd after it: `clamd://host:port` or `clamd:/path/of/socket`.
 * Throws on a setting that is neither; it does not try to connect.
 */
export const createScanner = (setting?: string): Scanner => {
  const before = builtIn();
  if (setting === undefined) return before;
  const address = clamdAddress(setting);
  if (address === undefined) {
    throw new Error("the scanner must be clamd://host:port or clamd:/path/of/socket");
  }
  return clamdScanner({ address, before });
};
