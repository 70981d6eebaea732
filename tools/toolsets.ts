/** What a person may choose of the tools, in the order in which they are listed. Apart from them, since settings are read first. */
export const toolsetNames = [
  "disputes",
  "dispute_configuration",
  "credit",
  "payments",
  "audit",
  "ingest",
  "identity",
] as const;

export type Toolset = (typeof toolsetNames)[number];
