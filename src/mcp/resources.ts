import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { Broker } from "../broker/port.ts";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import { guide } from "../../tools/guide.ts";
import { clean, cleanLine } from "./clean.ts";
import { disputeIdOf } from "./dispute-lookup.ts";
import { cost, type Fields, fitRecord } from "./fit.ts";
import { brokerOf, type Needs } from "./needs.ts";
import { readList } from "./pages.ts";
import { knownToolsets, type Settings } from "./settings.ts";

const GUIDE = "receivables://guide";
const CONFIGURATION = "receivables://dispute-configuration";
const DISPUTE = "receivables://disputes/";

const NOUNS = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
} as const satisfies Record<string, Operation>;

export const configurationNouns = Object.keys(NOUNS) as (keyof typeof NOUNS)[];

const JSON_TYPE = "application/json";
const MARGIN_TOKENS = 60;

export type Asked = { tool: string; signal: AbortSignal };
export type Resources = {
  list: readonly Resource[];
  templates: readonly ResourceTemplateType[];
  read(uri: string, asked: Asked): Promise<ReadResourceResult>;
};

const active = (settings: Settings) => ({
  disputes: settings.toolsets.includes("disputes"),
  configuration: settings.toolsets.includes("dispute_configuration"),
});

const listed = (settings: Settings): Resource[] => [
  {
    uri: GUIDE,
    name: "guide",
    title: "Guide",
    description: "How to use this server.",
    mimeType: "text/markdown",
  },
  ...(active(settings).configuration
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

const templated = (settings: Settings): ResourceTemplateType[] => [
  ...(active(settings).configuration
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
  ...(active(settings).disputes
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

const protocolError = (uri: string, error: unknown): unknown => {
  if (!(error instanceof Problem)) return error;
  if (error.code === "not_found") return new ResourceNotFoundError(uri);
  const message = `${error.code}: ${cleanLine(error.message, 500)}`;
  return new ProtocolError(ProtocolErrorCode.InternalError, message, { code: error.code });
};

const tail = (uri: string, start: string): string | undefined => {
  if (!uri.startsWith(start)) return undefined;
  try {
    const name = decodeURIComponent(uri.slice(start.length));
    return name === "" || name.length > 256 ? undefined : name;
  } catch {
    return undefined;
  }
};

/** Records by address, under the same cleaning and budget as the answers of tools. */
export const createResources = (needs: Needs): Resources => {
  const { settings } = needs;
  const { answerTokens } = settings;

  const records = async (
    broker: Broker,
    operation: Operation,
    args: Fields,
    budget: number,
    asked: Asked,
  ) => {
    const ask = (page: Fields) => broker.call(operation, page, asked);
    const { items, total, truncated } = await readList(operation, args, ask, {
      from: null,
      budget,
    });
    return { items, total, truncated };
  };

  const configuration = async (
    nouns: readonly (keyof typeof NOUNS)[],
    asked: Asked,
  ): Promise<Fields> => {
    const broker = await brokerOf(needs);
    const result: Fields = {};
    let left = answerTokens - MARGIN_TOKENS;
    for (const [index, noun] of nouns.entries()) {
      const share = Math.floor(left / (nouns.length - index)) - MARGIN_TOKENS;
      // One after the other: what one noun does not use, the next ones may.
      // oxlint-disable-next-line no-await-in-loop
      const part = await records(broker, NOUNS[noun], {}, share, asked);
      left -= cost(part);
      result[noun] = part;
    }
    return result;
  };

  const dispute = async (name: string, asked: Asked): Promise<Fields> => {
    const broker = await brokerOf(needs);
    const disputeId = await disputeIdOf(broker, name, asked);
    const { output } = await broker.call(contract.disputes.get, { disputeId }, asked);
    const budget = answerTokens - MARGIN_TOKENS;
    const { record } = fitRecord(clean(output) as Fields, Math.floor(budget / 2));
    const left = budget - cost(record) - MARGIN_TOKENS;
    const notes = await records(broker, contract.dispute_notes.list, { disputeId }, left, asked);
    return { dispute: record, notes };
  };

  const find = (uri: string, asked: Asked): Promise<Fields> | undefined => {
    const has = active(settings);
    if (has.configuration && uri === CONFIGURATION) return configuration(configurationNouns, asked);
    const noun = tail(uri, `${CONFIGURATION}/`);
    const known = configurationNouns.find((one) => one === noun);
    if (has.configuration && known !== undefined) return configuration([known], asked);
    const name = tail(uri, DISPUTE);
    return has.disputes && name !== undefined ? dispute(name, asked) : undefined;
  };

  return {
    list: listed(settings),
    templates: templated(settings),
    async read(uri, asked) {
      if (uri === GUIDE) {
        const toolsets = knownToolsets.filter((name) => settings.toolsets.includes(name));
        const text = guide(toolsets, settings.readOnly);
        return { contents: [{ uri, mimeType: "text/markdown", text }] };
      }
      const found = find(uri, asked);
      if (found === undefined) throw new ResourceNotFoundError(uri);
      try {
        const text = JSON.stringify(await found);
        const _meta = { "receivables/untrusted": true };
        return { contents: [{ uri, mimeType: JSON_TYPE, text, _meta }] };
      } catch (error) {
        throw protocolError(uri, error);
      }
    },
  };
};
