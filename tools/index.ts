import { audit } from "./audit.ts";
import { disputeConfiguration } from "./dispute-configuration.ts";
import { disputes } from "./disputes.ts";
import { identity } from "./identity.ts";
import type { Tool } from "./tool.ts";

/** Every tool, by the toolset that a person may choose. */
export const toolsets = {
  disputes,
  dispute_configuration: disputeConfiguration,
  audit,
  identity,
} as const satisfies Record<string, readonly Tool[]>;

export type Toolset = keyof typeof toolsets;
