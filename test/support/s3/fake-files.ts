import { vi } from "vitest";
import { createS3Files } from "../../../src/platform/files/s3.ts";
import type { OpenedFiles } from "../file-store.ts";
import { S3_ENVIRONMENT, startFakeS3 } from "./server.ts";

/** Opens a file store on a fake S3 service of its own, which must understand every request. */
export const openFakeS3Files = async (): Promise<OpenedFiles> => {
  for (const [name, value] of Object.entries(S3_ENVIRONMENT)) vi.stubEnv(name, value);
  const s3 = await startFakeS3(3);
  return {
    files: createS3Files(s3.location("a/prefix")),
    stored: async () =>
      [...s3.objects.keys(), ...s3.uploads.values().map(({ key }) => `unfinished ${key}`)].map(
        (key) => key.replace("a/prefix/", ""),
      ),
    async close() {
      vi.unstubAllEnvs();
      await s3.stop();
      if (s3.refused.length > 0) throw new Error(s3.refused.join("\n"));
    },
  };
};
