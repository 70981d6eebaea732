/** Names of the toolsets in list order. A separate file, so that reading settings does not load the tools. */
export const toolsetNames = [
  "insights",
  "disputes",
  "dispute_configuration",
  "credit",
  "payments",
  "audit",
  "ingest",
  "identity",
] as const;

export type Toolset = (typeof toolsetNames)[number];
