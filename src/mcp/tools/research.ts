import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import { toolsets } from "../../../tools/index.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { CallArguments } from "../../contract/operation.ts";
import { isRecord } from "../../kit/json.ts";
import { dataSentence, withAbout } from "../results/answer.ts";
import { type Fields, isWithinBudget } from "../results/budget.ts";
import { toJsonText } from "../results/json-text.ts";
import {
  parseRecordAddress,
  type RecordKind,
  type RecordName,
  toRecordAddress,
  toRecordPage,
} from "../results/record-pages.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { readOwnInput } from "./arguments/own-input.ts";
import type { ResearchTool } from "./listing/research-tools.ts";
import type { RunCall } from "./run-call.ts";

type Result = CallToolResult | InputRequiredResult;

/** Calls a tool as the host's own `tools/call` does, within {@link researchTokens}. */
type Call = (tool: Tool, args: CallArguments) => Promise<Result>;

type Request = { name: ResearchTool; args: CallArguments; signal: AbortSignal };

export type ResearchNeeds = {
  run: RunCall;
  /** Budget of one answer, in tokens. */
  answerTokens: number;
  /** The address of the endpoint, beside which records have pages. */
  mcpUrl?: URL | undefined;
};

/** The fields of an answer of `fetch` beside the text: id, title, url and metadata. */
const BESIDE_TOKENS = 300;

/** Returns the budget of a text that `fetch` passes on. JSON in JSON has each character twice at most. */
export const researchTokens = (answerTokens: number): number =>
  Math.floor((answerTokens - BESIDE_TOKENS) / 2);

const MAX_QUERY = 200;
const MAX_ID = 8192;
const MAX_TITLE = 200;
const MOST_FOUND = 20;

const INPUTS = {
  search: z.object({ query: z.string().trim().min(1).max(MAX_QUERY) }),
  fetch: z.object({ id: z.string().trim().min(1).max(MAX_ID) }),
};

/** Returns a tool that is called, logged and refused under another name. */
const renamed = (own: ResearchTool, name: string): Tool => {
  const tool = Object.values(toolsets)
    .flat()
    .find((one) => one.name === name);
  if (tool === undefined) throw new TypeError(`${own} needs the tool ${name}`);
  return { ...tool, name: own };
};

const FINDS = renamed("search", "find_records");
const READS_RESOURCE = renamed("fetch", "read_resource");

/** The tool that reads a record of each kind, and the argument that names the record. */
const READS: Record<RecordKind, readonly [tool: Tool, argument: string]> = {
  dispute: [renamed("fetch", "dispute_packet"), "disputeId"],
  account: [renamed("fetch", "account_overview"), "account"],
  document: [renamed("fetch", "documents_get"), "document_number"],
};

const KINDS = Object.keys(READS) as RecordKind[];

const toTitle = ({ kind, id }: RecordName, label?: string): string => {
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${id}`;
  return sanitizeLine(label === undefined ? name : `${name}: ${label}`, MAX_TITLE);
};

const toFields = (value: unknown): Fields => (isRecord(value) ? value : {});
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Puts data into a result: as its text exactly what hosts for research expect, and `about` beside the structure alone. */
const present = (data: Fields, notes: string[], meta: CallToolResult["_meta"]): CallToolResult => ({
  content: [{ type: "text", text: toJsonText(data) }],
  structuredContent: withAbout(data, { notes }),
  ...(meta === undefined ? {} : { _meta: meta }),
});

type Answered = {
  structured: Fields;
  text: string;
  notes: string[];
  meta: CallToolResult["_meta"];
};

/** Reads the result of a tool; undefined if it failed. */
const readAnswer = (result: Result): Answered | undefined => {
  if (!("content" in result) || result.isError === true) return undefined;
  const { content, structuredContent, _meta } = result as CallToolResult;
  const structured = toFields(structuredContent);
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const sentences = [structured, toFields(structured["about"])].flatMap(({ notes }) =>
    toList(notes),
  );
  return { structured, text: texts.join("\n"), notes: sentences.map(String), meta: _meta };
};

const createAnswers = ({ answerTokens, mcpUrl }: ResearchNeeds) => {
  const toUrl = (record: RecordName): string =>
    toRecordPage(mcpUrl, record) ?? toRecordAddress(record);
  return {
    /** Finds records; the best that fit. */
    async search({ query }: z.infer<(typeof INPUTS)["search"]>, call: Call): Promise<Result> {
      const result = await call(FINDS, { text: query, types: KINDS, limit: MOST_FOUND });
      const answer = readAnswer(result);
      if (answer === undefined) return result;
      const results = toList(answer.structured["items"]).map((item) => {
        const { type, id, label } = toFields(item);
        const record = { kind: type as RecordKind, id: String(id) };
        const title = toTitle(record, String(label));
        return { id: toRecordAddress(record), title, url: toUrl(record) };
      });
      while (!isWithinBudget(withAbout({ results }, answer), answerTokens) && results.length > 0) {
        results.pop();
      }
      return present({ results }, answer.notes, answer.meta);
    },
    /** Reads a record, or another resource by its address. */
    async fetch({ id }: z.infer<(typeof INPUTS)["fetch"]>, call: Call): Promise<Result> {
      const record = parseRecordAddress(id);
      const [tool, argument] = record === undefined ? [READS_RESOURCE, "uri"] : READS[record.kind];
      const result = await call(tool, { [argument]: record?.id ?? id });
      const answer = readAnswer(result);
      if (answer === undefined) return result;
      const { text, meta, structured } = answer;
      const { nextCursor } = structured;
      const [address = id] = id.split("?");
      const metadata = {
        type: record?.kind ?? "resource",
        about: dataSentence,
        ...(typeof nextCursor === "string" ? { next: `${address}?cursor=${nextCursor}` } : {}),
      };
      const title = record === undefined ? sanitizeLine(address, MAX_TITLE) : toTitle(record);
      const url = record === undefined ? id : toUrl(record);
      return present({ id, title, text, url, metadata }, [], meta);
    },
  };
};

/** Creates the calls of the tools for research. Each is logged, limited and refused as one call. */
export const createResearch = (needs: ResearchNeeds) => {
  const answers = createAnswers(needs);
  return async ({ name, args, signal }: Request, call: Call): Promise<Result> => {
    let answer: () => Promise<Result>;
    try {
      if (name === "search") {
        const input = readOwnInput(name, INPUTS[name], args);
        answer = () => answers.search(input, call);
      } else {
        const input = readOwnInput(name, INPUTS[name], args);
        answer = () => answers.fetch(input, call);
      }
    } catch (error) {
      return needs.run({ name, args, signal, tool: null }, () => Promise.reject(error));
    }
    return answer();
  };
};
