import type { Broker } from "../broker/port.ts";
import type { Clock } from "../kit/clock.ts";
import type { NewId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Settings } from "./settings.ts";
import type { Spent } from "./spent.ts";

/** What the MCP server is made of; a server per connection or request is built from one of these. */
export type Needs = {
  /** Whose credential goes with a call. Asked at the first call, so that listing tools needs no platform. */
  broker: Broker | (() => Promise<Broker>);
  /** Seals cursors and confirmations; the same for all processes that must understand each other's. */
  key: Buffer;
  spent: Spent;
  log: Log;
  now: Clock;
  newId?: NewId;
  settings: Settings;
  version: string;
};

export const brokerOf = async ({ broker }: Needs): Promise<Broker> =>
  typeof broker === "function" ? broker() : broker;
