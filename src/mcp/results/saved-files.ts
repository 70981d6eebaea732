/** The formats of saved tables, and their media types. */
export const SAVED_TYPES = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
} as const;

export type SavedFormat = keyof typeof SAVED_TYPES;

export const SAVED_FORMATS = Object.keys(SAVED_TYPES) as SavedFormat[];

/** A saved table. Its owner, a hash of the caller, is the only one who reads it. */
export type SavedName = { tenantId: string; owner: string; name: string };

export type SavedBytes = { size: number; bytes: AsyncIterable<Uint8Array> };

/** The place where saved tables lie for a day. */
export type SavedFiles = {
  /** Stores a file and returns its size. @throws {Problem} storage_quota_exceeded, payload_too_large, unavailable */
  put(file: SavedName, bytes: AsyncIterable<Uint8Array>): Promise<number>;
  /** Opens a file; undefined if it does not exist, or has expired. */
  open(file: SavedName): Promise<SavedBytes | undefined>;
};

const NAME = /^([a-z0-9_]{1,64})-\d{4}-\d\d-\d\d-[a-z0-9]{8}\.(csv|xlsx)$/;

/** Returns the tool and the format of a saved table by its name; undefined for any other name. */
export const parseSavedName = (name: string): { tool: string; format: SavedFormat } | undefined => {
  const [, tool, format] = NAME.exec(name) ?? [];
  return tool === undefined ? undefined : { tool, format: format as SavedFormat };
};
