import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import { guide } from "../../tools/guide.ts";
import { clean, cleanLine } from "./clean.ts";
import { disputeIdOf } from "./dispute-lookup.ts";
import { cost, createBasket, fairShares, type Fields, fitRecord } from "./fit.ts";
import type { Needs } from "./needs.ts";
import { readList } from "./pages.ts";
import {
  CONFIGURATION,
  type ConfigurationNoun,
  configurationNouns,
  DISPUTE,
  GUIDE,
  JSON_TYPE,
  offers,
} from "./resource-list.ts";
import { knownToolsets } from "./settings.ts";

const NOUNS: Record<ConfigurationNoun, Operation> = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
};

const MARGIN_TOKENS = 60;

export type Asked = { tool: string; signal: AbortSignal };
export type ReadResource = (uri: string, asked: Asked) => Promise<ReadResourceResult>;

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

type Part = { items: Fields[]; total: number | null; truncated: boolean };

const shortened = (part: Part, share: number): Part => {
  if (cost(part) <= share) return part;
  const basket = createBasket(share - MARGIN_TOKENS);
  for (const item of part.items) if (!basket.add(item)) break;
  return { items: basket.items, total: part.total, truncated: true };
};

/** Records by address, under the same cleaning and budget as the answers of tools. */
export const createReadResource = ({ broker, settings }: Needs): ReadResource => {
  const { answerTokens } = settings;

  const records = async (
    operation: Operation,
    args: Fields,
    budget: number,
    asked: Asked,
  ): Promise<Part> => {
    const ask = (page: Fields) => broker.call(operation, page, asked);
    const { items, total, truncated } = await readList(operation, args, ask, {
      from: null,
      budget,
    });
    return { items, total, truncated };
  };

  const configuration = async (
    nouns: readonly ConfigurationNoun[],
    asked: Asked,
  ): Promise<Fields> => {
    const budget = answerTokens - MARGIN_TOKENS * (nouns.length + 1);
    const parts = await Promise.all(
      nouns.map(async (noun) => ({ noun, part: await records(NOUNS[noun], {}, budget, asked) })),
    );
    const wants = parts.map(({ part }) => cost(part));
    const shares = fairShares(wants, budget);
    return Object.fromEntries(
      parts.map(({ noun, part }, index) => [noun, shortened(part, shares[index] ?? 0)]),
    );
  };

  const dispute = async (name: string, asked: Asked): Promise<Fields> => {
    const disputeId = await disputeIdOf(broker, name, asked);
    const { output } = await broker.call(contract.disputes.get, { disputeId }, asked);
    const budget = answerTokens - MARGIN_TOKENS;
    const { record } = fitRecord(clean(output) as Fields, Math.floor(budget / 2));
    const left = budget - cost(record) - MARGIN_TOKENS;
    const notes = await records(contract.dispute_notes.list, { disputeId }, left, asked);
    return { dispute: record, notes };
  };

  const find = (uri: string, asked: Asked): Promise<Fields> | undefined => {
    const has = offers(settings);
    if (has.configuration && uri === CONFIGURATION) return configuration(configurationNouns, asked);
    const noun = tail(uri, `${CONFIGURATION}/`);
    const known = configurationNouns.find((one) => one === noun);
    if (has.configuration && known !== undefined) return configuration([known], asked);
    const name = tail(uri, DISPUTE);
    return has.disputes && name !== undefined ? dispute(name, asked) : undefined;
  };

  return async (uri, asked) => {
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
  };
};
