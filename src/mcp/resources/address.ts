import { EXPORT_RUNS } from "../results/resource-uris.ts";

const MAX_NAME_LENGTH = 256;
/** No URI of a record is longer: two names, each character of which takes twelve when it is encoded. */
export const MAX_URI_LENGTH = 8192;
export const isLong = (uri: string): boolean => uri.length > MAX_URI_LENGTH;
/** The most characters of a foreign URI that an error repeats. */
export const MAX_SHOWN_URI = 300;

/** Decodes one path segment; undefined for an invalid, empty or overlong one. */
const decodeName = (text: string): string | undefined => {
  try {
    const name = decodeURIComponent(text);
    return name === "" || name.length > MAX_NAME_LENGTH ? undefined : name;
  } catch {
    return undefined;
  }
};

/** Returns the name after a prefix, in which a slash may occur unencoded. */
export const parseName = (uri: string, prefix: string): string | undefined =>
  uri.startsWith(prefix) && !isLong(uri) ? decodeName(uri.slice(prefix.length)) : undefined;

/** Returns the name after a prefix, if it is the last path segment. */
export const parseLastName = (uri: string, prefix: string): string | undefined =>
  isLong(uri) || uri.slice(prefix.length).includes("/") ? undefined : parseName(uri, prefix);

export type AttachmentAddress = {
  recordId: string;
  id: string;
  /** Whether the text of the file is meant, not the file. */
  isText: boolean;
};

/** Parses the URI of a file or of its text: the record that it belongs to, and its id. */
export const parseAttachmentUri = (uri: string, prefix: string): AttachmentAddress | undefined => {
  if (isLong(uri) || !uri.startsWith(prefix)) return undefined;
  const [recordId, path, id, text, ...more] = uri.slice(prefix.length).split("/").map(decodeName);
  const isAttachment = path === "attachments" && more.length === 0;
  const isText = text === "text";
  if (!isAttachment || recordId === undefined || id === undefined) return undefined;
  return isText || uri.slice(prefix.length).split("/").length === 3
    ? { recordId, id, isText }
    : undefined;
};

export type RunAddress = { scheduleId: string; runId?: string };

/** Parses the URI of a schedule's runs, or of one run. */
export const parseRunUri = (uri: string): RunAddress | undefined => {
  if (isLong(uri) || !uri.startsWith(EXPORT_RUNS)) return undefined;
  const names = uri.slice(EXPORT_RUNS.length).split("/").map(decodeName);
  const [scheduleId, runId] = names;
  if (scheduleId === undefined || names.length > 2) return undefined;
  if (names.length === 1) return { scheduleId };
  return runId === undefined ? undefined : { scheduleId, runId };
};
