import type { Broker } from "../broker/port.ts";
import type { CallLog } from "./calls/call-log.ts";
import type { Caller } from "./http/gate.ts";
import type { Clock } from "../kit/clock.ts";
import type { NewId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Transfers } from "../client/transfers.ts";
import type { Wait } from "../kit/wait.ts";
import type { SecretPages } from "./http/secret-pages.ts";
import type { Settings } from "./settings.ts";
import type { ReplayGuard } from "./calls/replay-guard.ts";

/** What one caller's calls of the platform are made with; all servers for that caller share it. */
export type Needs = {
  /** The id of the caller that all of this is for. */
  caller: string;
  /** Whose credential goes with a call. */
  broker: Broker;
  /** Seals cursors and confirmations; the same for all processes that must understand each other's. */
  key: Buffer;
  replayGuard: ReplayGuard;
  callLog: CallLog;
  log: Log;
  now: Clock;
  newId?: NewId;
  settings: Settings;
  /** How files come and go by signed URLs. */
  transfers: Transfers;
  /** The folders whose files a tool may send; none where the host is on another machine. */
  uploadFolders: readonly string[];
  wait?: Wait;
  /** Where a person who is elsewhere takes what was put away for them; absent where they sit at this machine. */
  secretPages?: SecretPages;
};

/** What a server is built from: enough for what it says of itself, and the way to everything else. */
export type Front = {
  settings: Settings;
  version: string;
  log: Log;
  /** Asked with a caller's first request that needs more than a list, and again when that was closed meanwhile. */
  open: (caller: Caller) => Promise<Needs>;
  /** Differs whenever a caller would be given something else by then; absent where that never is. */
  stampOf?: (caller: Caller) => Promise<string>;
};
