import { createDiskFiles } from "./disk.ts";
import type { FilesLocation } from "./location.ts";
import type { FileStore } from "./port.ts";

/** Opens the file store at a place, without a request to it. The S3 client is loaded only for S3. */
export const openFiles = async (location: FilesLocation): Promise<FileStore> => {
  if ("folder" in location) return createDiskFiles(location.folder);
  const { createS3Files } = await import("./s3.ts");
  return createS3Files(location);
};
