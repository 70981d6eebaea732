import type { CallToolResult } from "@modelcontextprotocol/server";
import type { readResource } from "../../../tools/read-resource.ts";
import { Problem } from "../../contract/errors.ts";
import { isRecord, parseIfJson } from "../../kit/json.ts";
import { present } from "../results/answer.ts";
import type { Fields } from "../results/budget.ts";
import type { FileContent } from "../results/file-content.ts";
import { ATTACHMENTS, SAVED } from "../results/resource-uris.ts";
import type { Given } from "./arguments/arguments.ts";
import type { Working } from "./tool-context.ts";

/** Reads the content of a resource. @throws {Problem} */
export type ReadContent = (
  uri: string,
  options: { tool: string; signal: AbortSignal; cursor?: string },
) => Promise<FileContent>;

const AS_TEXT = "/text";

/** Returns the URI of a file's text; any other URI unchanged. Structured content has no place for bytes. */
const toTextUri = (address: string): string => {
  const [uri = "", ...query] = address.split("?");
  const isFile = uri.includes(ATTACHMENTS) || uri.startsWith(SAVED);
  const textUri = isFile && !uri.endsWith(AS_TEXT) ? `${uri}${AS_TEXT}` : uri;
  return [textUri, ...query].join("?");
};

const DESCRIBE_REST = "There is more; send a nextCursor as cursor with the same uri.";

/** Whether a cursor continues a record's lists. */
const hasRest = (record: Fields): boolean =>
  [record, ...Object.values(record)].some((part) => isRecord(part) && "nextCursor" in part);

const NO_TEXT = "The resource has no text.";

/** Creates the tool that reads resources for hosts that cannot. */
export const createResourceCall =
  (read: ReadContent) =>
  async (
    { tool, signal }: Working,
    { args: { uri }, cursor }: Given<typeof readResource>,
  ): Promise<CallToolResult> => {
    const page = cursor === undefined ? {} : { cursor };
    const content = await read(toTextUri(uri), { tool: tool.name, signal, ...page });
    if (!("text" in content)) throw new Problem("conflict", NO_TEXT);
    const { mimeType, text, nextCursor } = content;
    const record = mimeType === "application/json" ? parseIfJson(text) : undefined;
    const rest = nextCursor === undefined ? {} : { nextCursor };
    const shown = isRecord(record) ? { content: record } : { text, ...rest };
    const notes = hasRest(isRecord(record) ? record : rest) ? [DESCRIBE_REST] : [];
    return present({ structured: { uri, mimeType, ...shown }, notes, etag: null });
  };
