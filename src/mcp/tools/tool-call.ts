import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker/port.ts";
import type { OperationTool, Tool } from "../../../tools/tool.ts";
import type { Host } from "./confirm.ts";
import type { Opens } from "./hand-over.ts";

/** Reports the progress of a call to the host; each step is one sentence. */
export type Progress = (message: string) => Promise<void>;

export type ToolCall = {
  tool: Tool;
  args: Record<string, unknown>;
  /** The authorization and the program that call, as `clientOf` names them. */
  client: string;
  host: Host;
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
