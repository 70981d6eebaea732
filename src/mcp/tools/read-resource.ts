import type { CallToolResult } from "@modelcontextprotocol/server";
import type { readResource } from "../../../tools/read-resource.ts";
import { Problem } from "../../contract/errors.ts";
import { parseIfJson } from "../../kit/json.ts";
import { present } from "../results/answer.ts";
import type { FileContent } from "../results/file-content.ts";
import { ATTACHMENTS } from "../results/resource-uris.ts";
import type { Given } from "./arguments/arguments.ts";
import type { Working } from "./tool-context.ts";

/** Reads the content of a resource. @throws {Problem} */
export type ReadContent = (
  uri: string,
  options: { tool: string; signal: AbortSignal },
) => Promise<FileContent>;

const AS_TEXT = "/text";

/** Returns the URI of a file's text; any other URI unchanged. Structured content has no place for bytes. */
const toTextUri = (uri: string): string =>
  uri.includes(ATTACHMENTS) && !uri.endsWith(AS_TEXT) ? `${uri}${AS_TEXT}` : uri;

const NO_TEXT = "The resource has no text.";

/** Creates the tool that reads resources for hosts that cannot. */
export const createResourceCall =
  (read: ReadContent) =>
  async (
    { tool, signal }: Working,
    { args: { uri } }: Given<typeof readResource>,
  ): Promise<CallToolResult> => {
    const content = await read(toTextUri(uri), { tool: tool.name, signal });
    if (!("text" in content)) throw new Problem("conflict", NO_TEXT);
    const { mimeType, text } = content;
    const record = mimeType === "application/json" ? parseIfJson(text) : undefined;
    const shown = record === undefined ? { text } : { content: record };
    return present({ structured: { uri, mimeType, ...shown }, notes: [], etag: null });
  };
