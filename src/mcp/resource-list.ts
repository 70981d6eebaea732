import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { Settings } from "./settings.ts";

export const GUIDE = "receivables://guide";
export const CONFIGURATION = "receivables://dispute-configuration";
export const DISPUTE = "receivables://disputes/";

export const configurationNouns = [
  "reasons",
  "categories",
  "departments",
  "assignees",
  "resolutions",
] as const;
export type ConfigurationNoun = (typeof configurationNouns)[number];

export const JSON_TYPE = "application/json";

type Offer = Pick<Settings, "toolsets">;

export const offers = ({ toolsets }: Offer) => ({
  disputes: toolsets.includes("disputes"),
  configuration: toolsets.includes("dispute_configuration"),
});

/** The resources that have an address of their own. */
export const resourceList = (settings: Offer): Resource[] => [
  {
    uri: GUIDE,
    name: "guide",
    title: "Guide",
    description: "How to use this server.",
    mimeType: "text/markdown",
  },
  ...(offers(settings).configuration
    ? [
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
      ]
    : []),
];

/** The resources whose addresses have a place to fill in. */
export const resourceTemplates = (settings: Offer): ResourceTemplateType[] => [
  ...(offers(settings).configuration
    ? [
        {
          uriTemplate: `${CONFIGURATION}/{noun}`,
          name: "dispute-configuration-noun",
          title: "Dispute configuration of one kind",
          description: configurationNouns.join(", "),
          mimeType: JSON_TYPE,
        },
      ]
    : []),
  ...(offers(settings).disputes
    ? [
        {
          uriTemplate: `${DISPUTE}{disputeId}`,
          name: "dispute",
          title: "Dispute",
          description: "One dispute with its notes, by id or code.",
          mimeType: JSON_TYPE,
        },
      ]
    : []),
];
