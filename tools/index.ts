import { audit } from "./audit.ts";
import { credit } from "./credit.ts";
import { disputeConfiguration } from "./dispute-configuration.ts";
import { disputes } from "./disputes.ts";
import { identity } from "./identity.ts";
import { ingest } from "./ingest.ts";
import { insightTools } from "./insights.ts";
import { paymentTools } from "./payments.ts";
import { readResourceTool } from "./read-resource.ts";
import type { Tool } from "./tool.ts";
import type { Toolset } from "./toolsets.ts";

/** All tools by toolset. */
export const toolsets: Readonly<Record<Toolset, readonly Tool[]>> = {
  insights: [...insightTools, readResourceTool],
  disputes,
  dispute_configuration: disputeConfiguration,
  credit,
  payments: paymentTools,
  audit,
  ingest,
  identity,
};
