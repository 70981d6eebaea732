const MIB = 1024 * 1024;

/** The greatest file that may be attached, in bytes. */
export const MAX_FILE_BYTES = 50 * MIB;

/** What may be attached, by the ending of the file's name: the content type to answer it with. */
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

/** The ending of a file's name in lower case, dot included; undefined where no such file may be attached. */
export const findExtension = (fileName: string): Extension | undefined => {
  const dot = fileName.lastIndexOf(".");
  const ending = fileName.slice(Math.max(dot, 0)).toLowerCase();
  return dot > 0 && isExtension(ending) ? ending : undefined;
};
