const MIB = 1024 * 1024;

/** Maximum size of an attached file in bytes. */
export const MAX_FILE_BYTES = 50 * MIB;

/** Allowed file extensions with the content type of the download. */
export const FILE_TYPES = {
  ".pdf": "application/pdf",
  ".zip": "application/zip",
  ".eml": "message/rfc822",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".png": "image/png",
  ".mov": "video/quicktime",
  ".mp4": "video/mp4",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".txt": "text/plain",
  ".rtf": "application/rtf",
} as const;

export type Extension = keyof typeof FILE_TYPES;

const isExtension = (ending: string): ending is Extension => Object.hasOwn(FILE_TYPES, ending);

/** The way round for a file of another type. */
export const OTHER_TYPES_HINT = "put a file of another type into a ZIP, or convert it";

/** Returns a name whose ending .jpg, as phones write it, is the allowed .jpeg. */
export const toAllowedName = (fileName: string): string => fileName.replace(/\.jpg$/i, ".jpeg");

/** Returns the lower-case extension of a file name with its dot, or undefined if the file type is not allowed. */
export const findExtension = (fileName: string): Extension | undefined => {
  const dot = fileName.lastIndexOf(".");
  const ending = fileName.slice(Math.max(dot, 0)).toLowerCase();
  return dot > 0 && isExtension(ending) ? ending : undefined;
};
