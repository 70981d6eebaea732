import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker/port.ts";
import type { CallOptions, Reply } from "../../client/port.ts";
import type { Outgoing } from "../../client/transfers.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { randomId } from "../../kit/ids.ts";
import { SECOND } from "../../kit/clock.ts";
import { systemWait } from "../../kit/wait.ts";
import { present, recordAnswer } from "../results/answer.ts";
import type { Given } from "./arguments.ts";
import type { Progress, Working } from "./tool-call.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import type { Fields } from "../results/budget.ts";
import { openLocalFile } from "./local-file.ts";
import type { ToolContext } from "./tool-context.ts";

const { create, get, list } = contract.dispute_attachments;

type Content = Outgoing & { close?: () => Promise<void> };

const contentOf = async (args: Fields, folders: readonly string[]): Promise<Content> => {
  const { text, base64, path } = args;
  if (typeof path === "string") return openLocalFile(path, folders);
  const bytes =
    typeof base64 === "string" ? Buffer.from(base64, "base64") : Buffer.from(String(text), "utf8");
  return { size: bytes.byteLength, bytes };
};

const PENDING = "PendingScan";
const FIRST_WAIT_MS = SECOND / 5;
const LONGEST_WAIT_MS = 2 * SECOND;
const MOST_WAITS = 45;

const fieldsOf = ({ output }: Reply): Fields => output as Fields;

/** Announces a file, sends it to its signed URL, and waits for what the scan finds. */
export const createUpload = (needs: ToolContext) => {
  const { transfers, uploadFolders, settings, newId = randomId } = needs;
  const { sleep } = needs.wait ?? systemWait;

  /** A platform may give its attachments other ids than their uploads. */
  const idOf = async (
    broker: Broker,
    announced: Fields,
    disputeId: unknown,
    options: CallOptions,
  ) => {
    const { attachmentId, uploadId } = announced;
    if (typeof attachmentId === "string") return attachmentId;
    const { output } = await broker.call(list, { disputeId }, options);
    const found = (output as Fields[]).find((one) => one["uploadId"] === uploadId);
    if (found === undefined) {
      throw new Problem("unavailable", "The platform does not list the file it was told of.");
    }
    return String(found["attachmentId"]);
  };

  /** A repeat under one idempotencyKey finds the file there already. */
  const send = async (
    url: string,
    content: Content,
    {
      repeats,
      signal,
    }: {
      repeats: boolean;
      signal: AbortSignal;
    },
  ): Promise<void> => {
    try {
      await transfers.put(url, content, signal);
    } catch (error) {
      if (!repeats || !(error instanceof Problem) || error.code !== "conflict") throw error;
    }
  };

  const scanned = async (
    broker: Broker,
    args: Fields,
    options: CallOptions,
    progress: Progress,
  ): Promise<Reply> => {
    let wait = FIRST_WAIT_MS;
    for (let waits = 0; ; waits += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      const reply = await broker.call(get, args, options);
      if (fieldsOf(reply)["status"] !== PENDING || waits === MOST_WAITS) return reply;
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await progress("Waiting for the scan.");
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await sleep(wait, options.signal);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  };

  const notesOn = ({ status }: Fields): string[] => {
    if (status === "Available") return [];
    return status === PENDING
      ? ["The scan is not done yet; dispute_attachments_get shows when it is."]
      : [
          `The file is not available: ${sanitizeLine(String(status), 40)}. failureReasons says why; dispute_attachments_delete removes it.`,
        ];
  };

  return async (
    { tool, signal, progress, broker }: Working,
    given: Given,
  ): Promise<CallToolResult> => {
    const { disputeId, fileName, visibility } = given.args;
    const options = { tool: tool.name, signal };
    const content = await contentOf(given.args, uploadFolders);
    try {
      const announcement = {
        disputeId,
        fileName,
        ...(visibility === undefined ? {} : { visibility }),
      };
      const idempotencyKey = given.idempotencyKey ?? newId();
      const announced = await broker.call(create, announcement, { ...options, idempotencyKey });
      const attachmentId = await idOf(broker, fieldsOf(announced), disputeId, options);
      await progress("Announced.");
      const repeats = given.idempotencyKey !== undefined;
      await send(String(fieldsOf(announced)["uploadUrl"]), content, { repeats, signal });
      await progress(`Uploaded ${content.size} bytes.`);
      const reply = await scanned(broker, { disputeId, attachmentId }, options, progress);
      const record = fieldsOf(reply);
      const { answerTokens } = settings;
      const answer = recordAnswer(record, { answerTokens, etag: reply.etag });
      return present({ ...answer, notes: [...answer.notes, ...notesOn(record)] });
    } finally {
      await content.close?.();
    }
  };
};
