import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker/port.ts";
import type { CallOptions } from "../../client/port.ts";
import type { Incoming } from "../../client/transfers.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { findExtension, FILE_TYPES } from "../../contract/file-types.ts";
import { dataBudget, present } from "../results/answer.ts";
import type { Given } from "./arguments.ts";
import type { Working, ToolContext } from "./tool-context.ts";
import { sanitize, sanitizeLine, sanitizeText } from "../results/sanitize.ts";
import {
  blobOf,
  MAX_EMBEDDED_BYTES,
  type FileContent,
  MAX_RESOURCE_BYTES,
  tooLargeToRead,
  withFile,
} from "../results/file-content.ts";
import { cost, type Fields, isWithinBudget } from "../results/budget.ts";
import { disputeFileUri } from "../../insights/record-uris.ts";

const { get } = contract.dispute_attachments;

type One = { disputeId: string; attachmentId: string };
type Options = Pick<CallOptions, "tool"> & { signal: AbortSignal };

/** A file that can be downloaded. */
type Found = { fields: Fields; url: string; mimeType: string };

const unavailable = ({ status }: Fields): Problem =>
  new Problem(
    "conflict",
    `The file cannot be downloaded: its status is ${sanitizeLine(String(status), 40)}.`,
  );

const typeOf = (fileName: unknown): string => {
  const extension = findExtension(String(fileName));
  return extension === undefined ? "application/octet-stream" : FILE_TYPES[extension];
};

const TRUNCATED = "The text is longer; its beginning is here.";

const findFile = async (broker: Broker, one: One, options: Options): Promise<Found> => {
  const { output } = await broker.call(get, one, options);
  const record = output as Fields;
  const { downloadUrl } = record;
  if (typeof downloadUrl !== "string" || downloadUrl === "") throw unavailable(record);
  const mimeType = typeOf(record["fileName"]);
  const uri = disputeFileUri(one.disputeId, one.attachmentId);
  const fields = { ...one, fileName: record["fileName"], mimeType };
  return {
    fields: { ...(sanitize(fields) as Fields), resourceUri: uri },
    url: downloadUrl,
    mimeType,
  };
};

const TEXT_TYPE = /^(text\/|message\/rfc822$)/;

/** Whether a file of this type is one to be read as text. */
const isText = (mimeType: string): boolean => TEXT_TYPE.test(mimeType);

// A token has seldom more; what is read beyond the budget is only thrown away.
const BYTES_PER_TOKEN = 8;

/** The number of bytes of a text file that can fit a budget. */
const textBytes = (budget: number): number => budget * BYTES_PER_TOKEN;

const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
};

/** A file's text, clean; a character that the end of the bytes cuts in two is left out. */
const decoded = (bytes: Uint8Array): string =>
  sanitizeText(new TextDecoder(encodingOf(bytes)).decode(bytes, { stream: true }));

/** The most of a text's beginning that fits a budget. */
const beginningOf = (text: string, budget: number): string => {
  if (isWithinBudget(text, budget)) return text;
  let [fits, most] = [0, text.length];
  while (most - fits > 1) {
    const middle = Math.floor((fits + most) / 2);
    if (isWithinBudget(text.slice(0, middle), budget)) fits = middle;
    else most = middle;
  }
  return text.slice(0, fits).toWellFormed();
};

/** Reads the files of disputes for the tool and for the resource. */
export const createDownload = (needs: ToolContext) => {
  const { transfers, settings } = needs;
  const budget = dataBudget(settings.answerTokens);

  const readText = async ({ url }: Found, room: number, { signal }: Options) => {
    const wanted = { maxBytes: textBytes(room), part: true };
    const { bytes = new Uint8Array(), fileSize } = await transfers.get(url, wanted, signal);
    const whole = decoded(bytes);
    const text = beginningOf(whole, room);
    const truncated = text.length < whole.length || bytes.byteLength < (fileSize ?? 0);
    return { text, truncated, fileSize: fileSize ?? bytes.byteLength };
  };

  const readBytes = ({ url }: Found, maxBytes: number, { signal }: Options): Promise<Incoming> =>
    transfers.get(url, { maxBytes, part: false }, signal);

  const presentText = async (found: Found, options: Options): Promise<CallToolResult> => {
    const room = budget - cost(found.fields);
    const { text, truncated, fileSize } = await readText(found, room, options);
    const structured = { ...found.fields, fileSize, text, truncated };
    return present({ structured, notes: truncated ? [TRUNCATED] : [], etag: null });
  };

  const presentFile = async (found: Found, options: Options): Promise<CallToolResult> => {
    const { bytes, fileSize } = await readBytes(found, MAX_EMBEDDED_BYTES, options);
    const structured = { ...found.fields, fileSize: fileSize ?? bytes?.byteLength };
    return withFile(present({ structured, notes: [], etag: null }), structured, bytes);
  };

  return {
    async download({ tool, signal, broker }: Working, { args }: Given): Promise<CallToolResult> {
      const options = { tool: tool.name, signal };
      const found = await findFile(broker, args as One, options);
      return isText(found.mimeType) ? presentText(found, options) : presentFile(found, options);
    },

    /** Reads the file of a resource. */
    async read(one: One, options: Options): Promise<FileContent> {
      const found = await findFile(needs.broker, one, options);
      const { mimeType } = found;
      if (isText(mimeType))
        return { mimeType, text: (await readText(found, budget, options)).text };
      const { bytes, fileSize } = await readBytes(found, MAX_RESOURCE_BYTES, options);
      if (bytes !== undefined) return { mimeType, blob: blobOf(bytes) };
      throw tooLargeToRead(fileSize);
    },
  };
};
