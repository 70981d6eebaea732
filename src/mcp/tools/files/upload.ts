import type { CallToolResult } from "@modelcontextprotocol/server";
import type { uploadFile } from "../../../../tools/dispute-operations.ts";
import type { Broker } from "../../../broker/port.ts";
import type { CallOptions, Reply } from "../../../client/port.ts";
import type { Outgoing } from "../../../client/transfers.ts";
import { Problem } from "../../../contract/errors.ts";
import { toAllowedName } from "../../../contract/file-types.ts";
import { contract } from "../../../contract/index.ts";
import type { ArgsOf, OutputOf } from "../../../contract/operation.ts";
import { randomId } from "../../../kit/ids.ts";
import { SECOND } from "../../../kit/clock.ts";
import { systemWait, type Wait } from "../../../kit/wait.ts";
import { present, recordAnswer } from "../../results/answer.ts";
import type { Given } from "../arguments/arguments.ts";
import type { Working, ToolContext } from "../tool-context.ts";
import { sanitizeLine } from "../../results/sanitize.ts";
import { openLocalFile } from "./local-file.ts";

const { create, get, list } = contract.dispute_attachments;

type Content = Outgoing & { close?: () => Promise<void> };

type Upload = ArgsOf<typeof uploadFile>;

const contentOf = async (
  { text = "", base64, path }: Upload,
  folders: readonly string[],
): Promise<Content> => {
  if (path !== undefined) return openLocalFile(path, folders);
  const bytes = base64 === undefined ? Buffer.from(text, "utf8") : Buffer.from(base64, "base64");
  return { size: bytes.byteLength, bytes };
};

const PENDING = "PendingScan";
const FIRST_WAIT_MS = SECOND / 5;
const LONGEST_WAIT_MS = 2 * SECOND;
const MOST_WAITS = 45;

/** Returns the attachment id of an announced upload. Platforms may use an id of their own, which their list tells. */
const findAttachmentId = async (
  broker: Broker,
  announced: OutputOf<typeof create>,
  disputeId: string,
  options: CallOptions,
): Promise<string> => {
  const { attachmentId, uploadId } = announced;
  if (attachmentId !== undefined) return attachmentId;
  const { output } = await broker.call(list, { disputeId }, options);
  const found = output.find((one) => one.uploadId === uploadId);
  if (found === undefined) {
    throw new Problem("unavailable", "The platform does not list the file it was told of.");
  }
  return found.attachmentId;
};

/** Polls the attachment until the scan has a result, for `MOST_WAITS` intervals at most. */
const waitForScan = async (
  { broker, progress }: Pick<Working, "broker" | "progress">,
  args: ArgsOf<typeof get>,
  options: CallOptions,
  sleep: Wait["sleep"],
): Promise<Reply<typeof get>> => {
  let wait = FIRST_WAIT_MS;
  for (let waits = 0; ; waits += 1) {
    const reply = await broker.call(get, args, options);
    if (reply.output.status !== PENDING || waits === MOST_WAITS) return reply;
    await progress("Waiting for the scan.");
    await sleep(wait, options.signal);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
};

const describeStatus = ({ status, warnings = [] }: OutputOf<typeof get>): string[] => {
  if (status === "Available") {
    return warnings.length > 0 ? ["warnings says what is unusual about the file."] : [];
  }
  return status === PENDING
    ? ["The scan is not done yet; dispute_attachments_get shows when it is."]
    : [
        `The file is not available: ${sanitizeLine(status, 40)}. failureReasons says why; dispute_attachments_delete removes it.`,
      ];
};

const describeName = (fileName: string): string[] => {
  const sent = toAllowedName(fileName);
  if (sent === fileName) return [];
  return [`The file was sent as ${sanitizeLine(sent, 255)}: the platform allows only .jpeg.`];
};

/** Announces the file, sends it to its signed URL and returns the attachment's id. */
const sendFile = async (
  { transfers, newId = randomId }: ToolContext,
  { tool, signal, progress, broker }: Working,
  { args, idempotencyKey }: Given<typeof uploadFile>,
  content: Content,
): Promise<string> => {
  const { disputeId, visibility } = args;
  const options = { tool: tool.name, signal };
  const announcement = {
    disputeId,
    fileName: toAllowedName(args.fileName),
    ...(visibility === undefined ? {} : { visibility }),
  };
  const { output: announced } = await broker.call(create, announcement, {
    ...options,
    confirmedBy: "none",
    idempotencyKey: idempotencyKey ?? newId(),
  });
  const attachmentId = await findAttachmentId(broker, announced, disputeId, options);
  await progress("Announced.");
  try {
    await transfers.put(announced.uploadUrl, content, signal);
  } catch (error) {
    // A repeated call with the same idempotencyKey finds the file uploaded.
    const isRepeat = idempotencyKey !== undefined;
    if (!isRepeat || !(error instanceof Problem) || error.code !== "conflict") throw error;
  }
  await progress(`Uploaded ${content.size} bytes.`);
  return attachmentId;
};

/** Creates the tool that uploads a dispute's file: announces it, sends it to its signed URL and waits for the scan. */
export const createUpload = (context: ToolContext) => {
  const { uploadFolders, settings, wait = systemWait } = context;
  return async (call: Working, given: Given<typeof uploadFile>): Promise<CallToolResult> => {
    const { disputeId } = given.args;
    const options = { tool: call.tool.name, signal: call.signal };
    const content = await contentOf(given.args, uploadFolders);
    try {
      const attachmentId = await sendFile(context, call, given, content);
      const reply = await waitForScan(call, { disputeId, attachmentId }, options, wait.sleep);
      const record = reply.output;
      const { answerTokens } = settings;
      const answer = recordAnswer(record, { answerTokens, etag: reply.etag });
      const notes = [...describeStatus(record), ...describeName(given.args.fileName)];
      return present({ ...answer, notes: [...answer.notes, ...notes] });
    } finally {
      await content.close?.();
    }
  };
};
