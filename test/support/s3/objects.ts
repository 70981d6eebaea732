import { createHash } from "node:crypto";

export const BUCKET = "test-bucket";
const MIN_PART_BYTES = 5 * 1024 * 1024;

export type Kept = { bytes: Buffer; at: number };
type Part = Kept & { etag: string };
type Pending = { key: string; at: number; parts: Map<number, Part> };

/** A response: its XML or bytes, and headers. */
export type Answer = {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
};

export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

const etagOf = (bytes: Buffer): string => `"${createHash("md5").update(bytes).digest("hex")}"`;
const tag = (name: string, content: string | number | boolean): string =>
  `<${name}>${content}</${name}>`;
const document = (name: string, content: string): Answer => ({
  status: 200,
  headers: { "Content-Type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?>${tag(name, content)}`,
});
const timeOf = (at: number): string => new Date(at).toISOString();

/** The objects and unfinished uploads of one bucket. Lists have pages of `pageSize`. */
export const createObjects = (pageSize: number) => {
  const objects = new Map<string, Kept>();
  const uploads = new Map<string, Pending>();
  let begun = 0;

  const pendingOf = (key: string, id: string | null): Pending => {
    const pending = uploads.get(id ?? "");
    if (pending?.key !== key) throw new Refused(404, "NoSuchUpload");
    return pending;
  };

  const complete = (key: string, id: string | null, body: string): Answer => {
    const pending = pendingOf(key, id);
    const named = [...body.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: /<ETag>(.*?)</.exec(part)?.[1]?.replaceAll("&quot;", '"'),
    }));
    const parts = named.map(({ number, etag }, index) => {
      const part = pending.parts.get(number);
      if (number !== index + 1) throw new Refused(400, "InvalidPartOrder");
      if (part === undefined || part.etag !== etag) throw new Refused(400, "InvalidPart");
      return part;
    });
    if (parts.length === 0) throw new Refused(400, "MalformedXML");
    if (parts.slice(0, -1).some(({ bytes }) => bytes.length < MIN_PART_BYTES)) {
      throw new Refused(400, "EntityTooSmall");
    }
    const bytes = Buffer.concat(parts.map((part) => part.bytes));
    objects.set(key, { bytes, at: Date.now() });
    uploads.delete(id ?? "");
    return document("CompleteMultipartUploadResult", tag("ETag", etagOf(bytes)));
  };

  const readRange = (key: string, range: string | undefined): Answer => {
    const object = objects.get(key);
    if (object === undefined) throw new Refused(404, "NoSuchKey");
    const { bytes } = object;
    const headers = { ETag: etagOf(bytes), "Last-Modified": new Date(object.at).toUTCString() };
    if (range === undefined) return { status: 200, headers, body: bytes };
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
    if (from === undefined) throw new Refused(400, "InvalidArgument");
    if (Number(from) >= bytes.length) throw new Refused(416, "InvalidRange");
    const last = Math.min(bytes.length - 1, to === "" ? Infinity : Number(to));
    const span = `bytes ${from}-${last}/${bytes.length}`;
    const body = bytes.subarray(Number(from), last + 1);
    return { status: 206, headers: { ...headers, "Content-Range": span }, body };
  };

  return {
    objects,
    uploads,
    readRange,
    complete,

    put(key: string, bytes: Buffer): Answer {
      objects.set(key, { bytes, at: Date.now() });
      return { status: 200, headers: { ETag: etagOf(bytes) } };
    },

    remove(key: string): Answer {
      objects.delete(key);
      return { status: 204 };
    },

    begin(key: string): Answer {
      begun += 1;
      const id = `upload-${String(begun).padStart(4, "0")}`;
      uploads.set(id, { key, at: Date.now(), parts: new Map() });
      return document("InitiateMultipartUploadResult", tag("UploadId", id));
    },

    putPart(key: string, id: string | null, number: number, bytes: Buffer): Answer {
      const pending = pendingOf(key, id);
      if (!(number >= 1 && number <= 10_000)) throw new Refused(400, "InvalidArgument");
      const etag = etagOf(bytes);
      pending.parts.set(number, { bytes, etag, at: Date.now() });
      return { status: 200, headers: { ETag: etag } };
    },

    abort(key: string, id: string | null): Answer {
      pendingOf(key, id);
      uploads.delete(id ?? "");
      return { status: 204 };
    },

    listParts(key: string, id: string | null): Answer {
      const parts = [...pendingOf(key, id).parts].map(([number, { etag, at }]) =>
        tag(
          "Part",
          tag("PartNumber", number) + tag("ETag", etag) + tag("LastModified", timeOf(at)),
        ),
      );
      return document("ListPartsResult", tag("IsTruncated", false) + parts.join(""));
    },

    listUploads(query: URLSearchParams): Answer {
      const prefix = query.get("prefix") ?? "";
      const after = `${query.get("key-marker") ?? ""} ${query.get("upload-id-marker") ?? ""}`;
      const found = [...uploads]
        .map(([id, { key, at }]) => ({ id, key, at, place: `${key} ${id}` }))
        .filter(({ key, place }) => key.startsWith(prefix) && place > after)
        .toSorted((one, other) => (one.place < other.place ? -1 : 1));
      const page = found.slice(0, pageSize);
      const last = page.at(-1);
      const isTruncated = found.length > page.length;
      const next =
        isTruncated && last !== undefined
          ? tag("NextKeyMarker", last.key) + tag("NextUploadIdMarker", last.id)
          : "";
      const rows = page.map(({ id, key, at }) =>
        tag("Upload", tag("Key", key) + tag("UploadId", id) + tag("Initiated", timeOf(at))),
      );
      return document(
        "ListMultipartUploadsResult",
        tag("IsTruncated", isTruncated) + next + rows.join(""),
      );
    },

    list(query: URLSearchParams): Answer {
      const prefix = query.get("prefix") ?? "";
      const after = Buffer.from(query.get("continuation-token") ?? "", "base64").toString();
      const found = [...objects]
        .filter(([key]) => key.startsWith(prefix) && key > after)
        .toSorted(([one], [other]) => (one < other ? -1 : 1));
      const page = found.slice(0, pageSize);
      const isTruncated = found.length > page.length;
      const token = Buffer.from(page.at(-1)?.[0] ?? "").toString("base64");
      const rows = page.map(([key, { bytes, at }]) =>
        tag(
          "Contents",
          tag("Key", key) + tag("LastModified", timeOf(at)) + tag("Size", bytes.length),
        ),
      );
      return document(
        "ListBucketResult",
        tag("IsTruncated", isTruncated) +
          (isTruncated ? tag("NextContinuationToken", token) : "") +
          rows.join(""),
      );
    },
  };
};

export type Objects = ReturnType<typeof createObjects>;
