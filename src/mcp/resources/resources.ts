import { type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { contract } from "../../contract/index.ts";
import type { Operation } from "../../contract/operation.ts";
import { buildGuide } from "../../../tools/guide.ts";
import { attachmentIn, runIn, tail, whole } from "./address.ts";
import { sanitize } from "../results/sanitize.ts";
import { createReadCredit } from "./credit-resources.ts";
import { disputeIdOf } from "./dispute-lookup.ts";
import { createReadExports } from "./export-run-resources.ts";
import { cost, fairShares, type Fields, truncateToBudget } from "../results/budget.ts";
import { createReadSchema } from "./export-resources.ts";
import { createReadIngest } from "./ingest-resources.ts";
import type { CallerContext } from "../caller.ts";
import { readList } from "../results/pages.ts";
import { MARGIN_TOKENS, type Part, shortened } from "./part.ts";
import { protocolError } from "../results/protocol-error.ts";
import {
  ACCOUNT,
  APPLICATION,
  APPLICATIONS,
  CONFIGURATION,
  DISPUTE,
  DOCUMENT,
  EXPORT_SCHEMA,
  GUIDE,
} from "../results/resource-uris.ts";
import { type ConfigurationNoun, configurationNouns, JSON_TYPE, offers } from "./resource-list.ts";
import { toolsetNames } from "../../../tools/toolsets.ts";

const NOUNS: Record<ConfigurationNoun, Operation> = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
};

export type Asked = { tool: string; signal: AbortSignal };
export type ReadResource = (uri: string, asked: Asked) => Promise<ReadResourceResult>;

type Content = { mimeType: string } & ({ text: string } | { blob: string });

/** Reads the file of a dispute. */
export type ReadDisputeFile = (
  file: { disputeId: string; attachmentId: string },
  asked: Asked,
) => Promise<Content>;

/** Records by address, under the same cleaning and budget as the answers of tools. */
export const createReadResource = (
  needs: CallerContext,
  readDisputeFile: ReadDisputeFile,
): ReadResource => {
  const { broker, settings, now } = needs;
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
      now,
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
    const { record } = truncateToBudget(sanitize(output) as Fields, Math.floor(budget / 2));
    const left = budget - cost(record) - 2 * MARGIN_TOKENS;
    const [notes, attachments] = await Promise.all([
      records(contract.dispute_notes.list, { disputeId }, left, asked),
      records(contract.dispute_attachments.list, { disputeId }, left, asked),
    ]);
    const [ofNotes = 0, ofFiles = 0] = fairShares([cost(notes), cost(attachments)], left);
    return {
      dispute: record,
      notes: shortened(notes, ofNotes),
      attachments: shortened(attachments, ofFiles),
    };
  };

  const ingest = createReadIngest(needs);
  const credit = createReadCredit(needs);
  const exports = createReadExports(needs);

  const file = (uri: string, asked: Asked): Promise<Content> | undefined => {
    const has = offers(settings);
    const ofDocument = attachmentIn(uri, DOCUMENT);
    if (has.ingest && ofDocument !== undefined) {
      return ingest.file(ofDocument.of, ofDocument.id, asked);
    }
    const ofDispute = attachmentIn(uri, DISPUTE);
    if (!has.disputes || ofDispute === undefined) return undefined;
    return readDisputeFile({ disputeId: ofDispute.of, attachmentId: ofDispute.id }, asked);
  };

  const schema = createReadSchema(needs);

  const find = (uri: string, asked: Asked): Promise<Fields> | undefined => {
    const has = offers(settings);
    if (has.configuration && uri === CONFIGURATION) return configuration(configurationNouns, asked);
    const noun = tail(uri, `${CONFIGURATION}/`);
    const known = configurationNouns.find((one) => one === noun);
    if (has.configuration && known !== undefined) return configuration([known], asked);
    const name = tail(uri, DISPUTE);
    if (has.disputes && name !== undefined) return dispute(name, asked);
    if (has.credit && uri === APPLICATIONS) return credit.list(asked);
    const application = whole(uri, APPLICATION);
    if (has.credit && application !== undefined) return credit.one(application, asked);
    if (has.payments && uri === EXPORT_SCHEMA) return schema.all(asked);
    const source = whole(uri, `${EXPORT_SCHEMA}/`);
    if (has.payments && source !== undefined) return schema.one(source, asked);
    const exported = has.payments ? runIn(uri) : undefined;
    if (exported !== undefined) {
      const { scheduleId, runId } = exported;
      return runId === undefined
        ? exports.runs(scheduleId, asked)
        : exports.run(scheduleId, runId, asked);
    }
    const account = whole(uri, ACCOUNT);
    if (has.ingest && account !== undefined) return ingest.account(account, asked);
    const document = whole(uri, DOCUMENT);
    return has.ingest && document !== undefined ? ingest.document(document, asked) : undefined;
  };

  const contentOf = async (uri: string, asked: Asked): Promise<Content> => {
    const bytes = file(uri, asked);
    if (bytes !== undefined) return bytes;
    const found = find(uri, asked);
    if (found !== undefined) return { mimeType: JSON_TYPE, text: JSON.stringify(await found) };
    throw new ResourceNotFoundError(uri);
  };

  return async (uri, asked) => {
    if (uri === GUIDE) {
      const toolsets = toolsetNames.filter((name) => settings.toolsets.includes(name));
      const text = buildGuide(toolsets, settings.readOnly);
      return { contents: [{ uri, mimeType: "text/markdown", text }] };
    }
    try {
      const _meta = { "receivables/untrusted": true };
      return { contents: [{ uri, ...(await contentOf(uri, asked)), _meta }] };
    } catch (error) {
      throw protocolError(uri, error);
    }
  };
};
