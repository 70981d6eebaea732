import { EXPORT_RUNS } from "../results/resource-uris.ts";

const decoded = (text: string): string | undefined => {
  try {
    const name = decodeURIComponent(text);
    return name === "" || name.length > 256 ? undefined : name;
  } catch {
    return undefined;
  }
};

export const parseName = (uri: string, start: string): string | undefined =>
  uri.startsWith(start) ? decoded(uri.slice(start.length)) : undefined;

/** What a file belongs to, and its id, in the address of a file. */
export const parseAttachmentUri = (
  uri: string,
  start: string,
): { of: string; id: string } | undefined => {
  const [of, path, id, ...more] = uri.slice(start.length).split("/").map(decoded);
  const is = uri.startsWith(start) && path === "attachments" && more.length === 0;
  return is && of !== undefined && id !== undefined ? { of, id } : undefined;
};

/** A name in an address that has no further part. */
export const parseLastName = (uri: string, start: string): string | undefined =>
  uri.slice(start.length).includes("/") ? undefined : parseName(uri, start);

export type RunAddress = { scheduleId: string; runId?: string };

/** The schedule in an address, and the run where it names one. */
export const parseRunUri = (uri: string): RunAddress | undefined => {
  if (!uri.startsWith(EXPORT_RUNS)) return undefined;
  const [scheduleId, runId, ...more] = uri.slice(EXPORT_RUNS.length).split("/").map(decoded);
  if (scheduleId === undefined || more.length > 0) return undefined;
  if (runId !== undefined) return { scheduleId, runId };
  return uri.slice(EXPORT_RUNS.length).includes("/") ? undefined : { scheduleId };
};
