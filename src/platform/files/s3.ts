import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type MultipartUpload,
  NoSuchKey,
  NoSuchUpload,
  paginateListObjectsV2,
  paginateListParts,
  ListMultipartUploadsCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { SECOND } from "../../kit/clock.ts";
import { StoreUnavailable } from "../store/port.ts";
import { toProxyEnv } from "../../kit/proxy.ts";
import type { S3Location } from "./location.ts";
import { type FileStore, FileTooLarge, parseKey, type Bytes } from "./port.ts";
import { openResuming } from "./resuming.ts";

/** Time limits in milliseconds: to connect, and to wait for an answer or the next bytes of one. */
export type S3Times = { connectMs: number; waitMs: number };

const TIMES: S3Times = { connectMs: 3 * SECOND, waitMs: 20 * SECOND };
const ATTEMPTS = 3;
/** The smallest part that S3 allows. An upload takes about twice as much memory. */
const PART_BYTES = 5 * 1024 * 1024;

/** Why S3 refused or did not answer; `code` is public, as `/ready` shows it. */
class S3Failure extends Error {
  readonly code: string;

  constructor(cause: Error) {
    super(`S3: ${cause.name}: ${cause.message}`, { cause });
    this.code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
  }
}

const toOutage = (error: unknown): StoreUnavailable =>
  error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable(
        new S3Failure(error instanceof Error ? error : new Error(String(error))),
      );

/** Runs a request. Everything but an answer about the object is an outage: the caller cannot change its request. */
const guardS3 = async <T>(act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw toOutage(error);
  }
};

const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey ||
  error instanceof NoSuchUpload ||
  (error instanceof S3ServiceException &&
    ["NoSuchKey", "NoSuchUpload", "NotFound"].includes(error.name));

const unlessMissing = async <T>(act: Promise<T>): Promise<T | undefined> => {
  try {
    return await act;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const proxied = () => {
  const proxyEnv = toProxyEnv();
  return proxyEnv === undefined ? {} : { proxyEnv };
};

const createClient = ({ endpoint, region }: S3Location, { connectMs, waitMs }: S3Times): S3Client =>
  new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(region === undefined && endpoint === undefined ? {} : { region: region ?? "us-east-1" }),
    maxAttempts: ATTEMPTS,
    // Services other than AWS do not know the newer checksums. Every body is covered by the signature.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: waitMs,
      throwOnRequestTimeout: true,
      // Also ends a response whose reader pauses; it is continued when the reader does.
      socketTimeout: waitMs,
      // Clients that read slowly hold a connection each, and must not block the others.
      httpAgent: { keepAlive: true, maxSockets: Infinity, ...proxied() },
      httpsAgent: { keepAlive: true, maxSockets: Infinity, ...proxied() },
    },
  });

type Place = { client: S3Client; Bucket: string; root: string };

/** Yields uploads that were begun and neither completed nor aborted. */
async function* listUploads({ client, Bucket, root }: Place): AsyncGenerator<MultipartUpload> {
  let after: { KeyMarker?: string; UploadIdMarker?: string } = {};
  for (;;) {
    const page = await client.send(
      new ListMultipartUploadsCommand({ Bucket, Prefix: root, ...after }),
    );
    yield* page.Uploads ?? [];
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    if (IsTruncated !== true || KeyMarker === undefined) return;
    after = { KeyMarker, ...(UploadIdMarker === undefined ? {} : { UploadIdMarker }) };
  }
}

/** Whether anything was written to an upload since a time. */
const isAlive = async (
  { client, Bucket }: Place,
  { Key, UploadId, Initiated }: MultipartUpload,
  since: number,
): Promise<boolean> => {
  if (Initiated === undefined || Initiated.getTime() > since) return true;
  for await (const page of paginateListParts({ client }, { Bucket, Key, UploadId })) {
    if (page.Parts?.some(({ LastModified }) => Number(LastModified) > since) === true) return true;
  }
  return false;
};

const discardUnfinished = async (place: Place, before: number): Promise<number> => {
  const { client, Bucket } = place;
  let count = 0;
  for await (const upload of listUploads(place)) {
    // An upload may end between the list and these requests.
    const alive = await unlessMissing(isAlive(place, upload, before));
    if (alive !== false) continue;
    const { Key, UploadId } = upload;
    await unlessMissing(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
    count += 1;
  }
  return count;
};

async function* listObjects(
  { client, Bucket, root }: Place,
  first: string,
): AsyncGenerator<{ key: string; at: number }> {
  const Prefix = `${root}${parseKey(first).join("/")}/`;
  for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
    for (const { Key, LastModified } of page.Contents ?? []) {
      if (Key === undefined || LastModified === undefined) continue;
      yield { key: Key.slice(root.length), at: LastModified.getTime() };
    }
  }
}

/** Stores the stream in parts of bounded size; a short one is a single request. */
const put = async ({ client, Bucket }: Place, Key: string, bytes: Bytes, maxBytes: number) => {
  const hash = createHash("sha256");
  let size = 0;
  let broken: { error: unknown } | undefined;
  async function* counted(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of bytes) {
        size += chunk.byteLength;
        if (size > maxBytes) throw new FileTooLarge(maxBytes);
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      broken = { error };
      throw error;
    }
  }
  const Body = Readable.from(counted(), { objectMode: false });
  const upload = new Upload({
    client,
    params: { Bucket, Key, Body },
    partSize: PART_BYTES,
    queueSize: 1,
  });
  try {
    await upload.done();
  } catch (error) {
    Body.destroy();
    throw broken === undefined ? toOutage(error) : broken.error;
  }
  return { size, sha256: hash.digest("hex") };
};

/** Files as objects of a bucket, one per key. An object appears when all of its bytes have arrived. */
export const createS3Files = (location: S3Location, times = TIMES): FileStore => {
  const client = createClient(location, times);
  const root = location.prefix === "" ? "" : `${location.prefix}/`;
  const place: Place = { client, Bucket: location.bucket, root };
  const { Bucket } = place;
  const nameOf = (key: string): string => `${root}${parseKey(key).join("/")}`;

  return {
    put: async (key, bytes, maxBytes) => put(place, nameOf(key), bytes, maxBytes),

    async open(key, span) {
      const Key = nameOf(key);
      return openResuming({
        attempts: ATTEMPTS,
        toError: toOutage,
        get: (offset) =>
          guardS3(async () => {
            const from = (span?.from ?? 0) + offset;
            const last = span === undefined ? "" : span.to - 1;
            const Range = from === 0 && last === "" ? undefined : `bytes=${from}-${last}`;
            const response = await unlessMissing(
              client.send(new GetObjectCommand({ Bucket, Key, Range })),
            );
            if (response === undefined) return undefined;
            if (
              Range !== undefined &&
              response.ContentRange?.startsWith(`bytes ${from}-`) !== true
            ) {
              throw new Error("a range was not answered with this range");
            }
            return { size: Number(response.ContentLength), body: response.Body as Readable };
          }),
      });
    },

    async remove(key) {
      const Key = nameOf(key);
      await guardS3(() => unlessMissing(client.send(new DeleteObjectCommand({ Bucket, Key }))));
    },

    async *list(first) {
      try {
        yield* listObjects(place, first);
      } catch (error) {
        parseKey(first);
        throw toOutage(error);
      }
    },

    discardUnfinished: (before) => guardS3(() => discardUnfinished(place, before)),
  };
};
