import { builtInScanner } from "../scan/built-in.ts";
import { type ClamdAddress, createClamdScanner } from "./clamd.ts";
import type { Scanner } from "../scan/port.ts";

const CLAMD_PORT = 3310;

const parseClamdAddress = (setting: string): ClamdAddress | undefined => {
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

/**
 * Creates the built-in scanner, followed by clamd if the setting names one: `clamd://host:port` or
 * `clamd:/path/of/socket`. Throws on any other setting; it does not connect yet.
 */
export const createScanner = (setting?: string): Scanner => {
  if (setting === undefined) return builtInScanner;
  const address = parseClamdAddress(setting);
  if (address === undefined) {
    throw new Error("the scanner must be clamd://host:port or clamd:/path/of/socket");
  }
  return createClamdScanner({ address, before: builtInScanner });
};
