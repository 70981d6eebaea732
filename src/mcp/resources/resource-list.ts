import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { Toolset } from "../../../tools/toolsets.ts";
import { SOURCES } from "../../contract/payments/catalogue.ts";
import {
  ACCOUNT,
  APPLICATION,
  APPLICATIONS,
  ATTACHMENTS,
  CONFIGURATION,
  DISPUTE,
  DOCUMENT,
  EXPORT_RUNS,
  EXPORT_SCHEMA,
  GUIDE,
  SAVED,
} from "../results/resource-uris.ts";
import { listSkillResources } from "../skills/skill-files.ts";
import type { Settings } from "../../config/settings.ts";

export const configurationNouns = [
  "reasons",
  "categories",
  "departments",
  "assignees",
  "resolutions",
] as const;
export type ConfigurationNoun = (typeof configurationNouns)[number];

export const JSON_TYPE = "application/json";

type Toolsets = Pick<Settings, "toolsets">;
type ByToolset<T> = Partial<Record<Toolset, readonly T[]>>;

const GUIDE_RESOURCE: Resource = {
  uri: GUIDE,
  name: "guide",
  title: "Guide",
  description: "How to use this server.",
  mimeType: "text/markdown",
};

/** The resources with a fixed URI, by the toolset that offers them, in the order of their list. */
const RESOURCES: ByToolset<Resource> = {
  dispute_configuration: [
    {
      uri: CONFIGURATION,
      name: "dispute-configuration",
      title: "Dispute configuration",
      description: "Reasons, categories, departments, assignees and resolutions.",
      mimeType: JSON_TYPE,
    },
    ...configurationNouns.map((noun) => ({
      uri: `${CONFIGURATION}/${noun}`,
      name: `dispute-configuration-${noun}`,
      title: `Dispute ${noun}`,
      description: `The tenant's dispute ${noun}.`,
      mimeType: JSON_TYPE,
    })),
  ],
  credit: [
    {
      uri: APPLICATIONS,
      name: "credit-applications",
      title: "Recent credit applications",
      description: "Modified in the last 90 days, the latest first, with a count per status.",
      mimeType: JSON_TYPE,
    },
  ],
  payments: [
    {
      uri: EXPORT_SCHEMA,
      name: "export-schema",
      title: "Payment schema",
      description: "The sources of payments, their fields and the conditions each field takes.",
      mimeType: JSON_TYPE,
    },
  ],
};

/** The resources whose URI has variables, by the toolset that offers them, in the order of their list. */
const TEMPLATES: ByToolset<ResourceTemplateType> = {
  dispute_configuration: [
    {
      uriTemplate: `${CONFIGURATION}/{noun}`,
      name: "dispute-configuration-noun",
      title: "Dispute configuration of one kind",
      description: configurationNouns.join(", "),
      mimeType: JSON_TYPE,
    },
  ],
  disputes: [
    {
      uriTemplate: `${DISPUTE}{disputeId}`,
      name: "dispute",
      title: "Dispute",
      description: "One dispute with its notes and files, by id or code.",
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: `${DISPUTE}{disputeId}${ATTACHMENTS}{attachmentId}`,
      name: "dispute-attachment",
      title: "File of a dispute",
      description: "A dispute's file itself.",
    },
    {
      uriTemplate: `${DISPUTE}{disputeId}${ATTACHMENTS}{attachmentId}/text`,
      name: "dispute-attachment-text",
      title: "Text of a dispute's file",
      description: "The text of a file; it says where it continues if it is long.",
      mimeType: "text/plain",
    },
  ],
  credit: [
    {
      uriTemplate: `${APPLICATION}{applicationId}`,
      name: "credit-application",
      title: "Credit application",
      description: "One credit application as a person reads it: forms, answers, references.",
      mimeType: JSON_TYPE,
    },
  ],
  payments: [
    {
      uriTemplate: `${EXPORT_SCHEMA}/{source}`,
      name: "export-schema-source",
      title: "Payment schema of one source",
      description: SOURCES.join(", "),
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: `${EXPORT_RUNS}{scheduleId}`,
      name: "export-runs",
      title: "Runs of a schedule",
      description:
        "A schedule's runs, the newest first, and when it runs next. Subscribers are notified when one ends.",
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: `${EXPORT_RUNS}{scheduleId}/{runId}`,
      name: "export-run",
      title: "Run of a schedule",
      description: "One run with its rows. Subscribers are notified when it ends.",
      mimeType: JSON_TYPE,
    },
  ],
  ingest: [
    {
      uriTemplate: `${ACCOUNT}{accountNumber}`,
      name: "account",
      title: "Account",
      description: "One customer with its notes.",
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: `${DOCUMENT}{documentNumber}`,
      name: "document",
      title: "Document",
      description: "One invoice or credit note, and which PDF files it has.",
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: `${DOCUMENT}{documentNumber}${ATTACHMENTS}{id}`,
      name: "document-attachment",
      title: "PDF of a document",
      description: "A document's PDF file.",
      mimeType: "application/pdf",
    },
    {
      uriTemplate: `${DOCUMENT}{documentNumber}${ATTACHMENTS}{id}/text`,
      name: "document-attachment-text",
      title: "Text of a document's PDF",
      description: "The text of a PDF file; it says where it continues if it is long.",
      mimeType: "text/plain",
    },
  ],
};

const SAVED_TEMPLATE: ResourceTemplateType = {
  uriTemplate: `${SAVED}{name}`,
  name: "saved-table",
  title: "Saved table",
  description: "A table that you saved with a tool's argument save, for a day.",
};

/** Returns what the enabled toolsets offer. */
const offered = <T>({ toolsets }: Toolsets, listed: ByToolset<T>): T[] =>
  Object.entries(listed).flatMap(([name, list]) =>
    toolsets.includes(name as Toolset) ? list : [],
  );

/** Returns the resources with a fixed URI. */
export const listResources = (settings: Toolsets): Resource[] => [
  GUIDE_RESOURCE,
  ...offered(settings, RESOURCES),
  ...listSkillResources(settings),
];

/** Returns the resources whose URI has variables. */
export const listResourceTemplates = (settings: Toolsets): ResourceTemplateType[] => [
  ...offered(settings, TEMPLATES),
  // Without a tool nothing can be saved.
  ...(settings.toolsets.length > 0 ? [SAVED_TEMPLATE] : []),
];
