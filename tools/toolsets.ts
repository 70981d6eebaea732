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

/** The name of the preset in settings: the insights, and the tools of daily work of some toolsets. */
export const CORE = "core";

/** Adds `search` and `fetch` in settings, which hosts for research look for. Named alone: `all` does not have it. */
export const RESEARCH = "research";

/** The names that settings take. */
export const toolsetChoices: readonly string[] = [...toolsetNames, CORE, RESEARCH, "all"];

/** The toolsets of which the preset has some tools only. */
export const coreToolsets = [
  "disputes",
  "dispute_configuration",
  "credit",
  "payments",
  "ingest",
] as const satisfies readonly Toolset[];

export type Toolset = (typeof toolsetNames)[number];
