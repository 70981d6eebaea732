import { contract } from "../contract/index.ts";
import type { DisputeAttachment } from "../contract/operations/dispute-attachments.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { Problem } from "../contract/errors.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { cutText } from "./brief.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readPart, showPart, type Unavailable } from "./read-part.ts";
import { disputeFileUri } from "./record-uris.ts";

const { dispute_attachments } = contract;

const FILE_WARNINGS = 3;
const FILES = 20;
const EXCERPTS = 5;
const EXCERPT_CHARACTERS = 300;
const CONCURRENT = 2;
const AVAILABLE = "Available";

/** Reads the beginning of a file's text, or says why there is none. */
const readExcerpt = async (
  { readExcerpt: read, signal }: InsightContext,
  { disputeId, attachmentId, status }: DisputeAttachment,
): Promise<Fields> => {
  if (read === undefined || status !== AVAILABLE) return {};
  try {
    const found = await read({ disputeId, attachmentId });
    if ("unreadable" in found) return { noExcerpt: cutText(found.unreadable, 120) };
    return { excerpt: cutText(found.text.trim(), EXCERPT_CHARACTERS) };
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted) throw error;
    return { noExcerpt: cutText(error.message, 120) };
  }
};

export type Files = { shown: readonly Fields[] | Unavailable; total: number | null };

/** Reads a dispute's files, newest first, the first five with the beginning of their text. */
export const readFiles = async (
  context: InsightContext,
  { disputeId }: Dispute,
): Promise<Files> => {
  const part = await readPart(context, dispute_attachments.list, { disputeId });
  if (part.refused !== undefined) return { shown: showPart(part, () => []), total: null };
  const newest = part.value
    .toSorted((a, b) => Date.parse(b.createDate) - Date.parse(a.createDate))
    .slice(0, FILES);
  const excerpts: Fields[] = [];
  const reading = mapConcurrent(newest.slice(0, EXCERPTS), CONCURRENT, (file) =>
    readExcerpt(context, { ...file, disputeId }),
  );
  for await (const excerpt of reading) excerpts.push(excerpt);
  const shown = newest.map(({ attachmentId, fileName, status, warnings = [] }, index) => ({
    attachmentId,
    fileName,
    type: fileName.split(".").at(-1)?.toLowerCase() ?? "",
    status,
    ...(warnings.length === 0 ? {} : { warnings: warnings.slice(0, FILE_WARNINGS) }),
    ...excerpts[index],
    resource: disputeFileUri(disputeId, attachmentId),
  }));
  return { shown, total: part.value.length };
};
