import type { CallArguments } from "../../contract/operation.ts";
import type { Transfers } from "../../client/transfers.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Wait } from "../../kit/wait.ts";
import type { CallerContext } from "../caller.ts";
import type { CallLog } from "./call-log.ts";
import type { CountCall } from "./rate-limiter.ts";
import type { ReplayGuard } from "./asking/replay-guard.ts";
import type { SecretPages } from "./secret-pages.ts";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker/port.ts";
import type { OperationTool, Tool } from "../../../tools/tool.ts";
import type { SavedFiles } from "../results/saved-files.ts";
import type { SavedLinks } from "./saved-links.ts";
import type { Approvals } from "./asking/approvals.ts";
import type { Ways } from "./asking/confirm.ts";
import type { Opens } from "./hand-over.ts";

/** Dependencies of one caller's tool calls; all servers for that caller share them. */
export type ToolContext = CallerContext & {
  /** Seals cursors and confirmations. Processes that share callers share the key. */
  key: Buffer;
  replayGuard: ReplayGuard;
  /** Counts the caller's calls at all nodes; without it each process counts its own. */
  countCall?: CountCall | undefined;
  callLog: CallLog;
  newId?: NewId;
  /** Transfers files by signed URLs. */
  transfers: Transfers;
  /** Folders with files that a tool may upload; empty if the host runs on another machine. */
  uploadFolders: readonly string[];
  wait?: Wait;
  /** Aborts when the server ends, so that no call waits for a person any more. */
  ending?: AbortSignal;
  /** The address of the endpoint, beside which records have pages; absent where people cannot open it. */
  mcpUrl?: URL | undefined;
  /** The place of saved tables; absent where there is none. */
  saved?: SavedFiles | undefined;
  /** A folder of this machine into which saved tables are copied. */
  saveFolder?: string | undefined;
  /** Returns the address at which a browser downloads a saved table until a time; absent without an HTTP server. */
  savedLink?: SavedLinks["urlOf"] | undefined;
  /** Pages that show a stored secret to its owner; absent if the owner uses this machine. */
  secretPages?: SecretPages;
  /** Pages on which the caller's person approves calls; absent without the built-in sign-in. */
  approvals?: Approvals | undefined;
};

/** Reports the progress of a call to the host; each step is one sentence. */
export type Progress = (message: string) => Promise<void>;

export type ToolCall = Ways & {
  tool: Tool;
  args: CallArguments;
  /** The authorization and the program that call, as `clientOf` names them. */
  client: string;
  opens: Opens;
  signal: AbortSignal;
  /** Tells the host how far the call has come, where it wants to know. */
  progress: Progress;
};

export type CallTool = (call: ToolCall) => Promise<CallToolResult | InputRequiredResult>;

/** A call with the broker that works for it. */
export type Working<T extends Tool = OperationTool> = Omit<ToolCall, "tool"> & {
  tool: T;
  broker: Broker;
};
