import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, vi } from "vitest";
import { createS3Files } from "../../src/platform/files/s3.ts";
import { describeFileStore, type OpenedFiles } from "../support/file-store.ts";
import { describeFilesInUse } from "../support/files-in-use.ts";
import { hasSwift, startSwift, type Swift, SWIFT_ENVIRONMENT } from "../support/s3/swift.ts";

describe.skipIf(!hasSwift)("the S3 service of OpenStack Swift (Debian's python3-swift)", () => {
  let swift: Swift;

  beforeAll(async () => {
    swift = await startSwift();
    for (const [name, value] of Object.entries(SWIFT_ENVIRONMENT)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await swift.stop();
  });

  const open = async (): Promise<OpenedFiles> => {
    const { client, endpoint, region } = swift;
    const Bucket = `bucket-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket }));
    return {
      files: createS3Files({ bucket: Bucket, prefix: "a/prefix", endpoint, region }),
      async stored() {
        const keys: (string | undefined)[] = [];
        for await (const page of paginateListObjectsV2({ client }, { Bucket })) {
          keys.push(...(page.Contents ?? []).map(({ Key }) => Key));
        }
        const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
        keys.push(...Uploads.map(({ Key }) => `unfinished ${Key}`));
        return keys.map((key = "") => key.replace("a/prefix/", ""));
      },
      close: async () => {},
    };
  };

  describeFileStore("on Swift", open);
  describeFilesInUse("on Swift", open);
});
