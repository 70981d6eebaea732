import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { S3Location } from "../../../src/platform/files/location.ts";
import { closeNow, listen } from "../listen.ts";
import { type Answer, BUCKET, createObjects, type Objects, Refused } from "./objects.ts";
import { ACCESS_KEY, findSignatureFault, REGION, SECRET_KEY } from "./signature.ts";

/** A failure of one request: an error, no answer at all, or a body that is cut off or stops after so many bytes, or comes in pieces with pauses of so many milliseconds. */
export type Fault =
  | { status: number; code: string }
  | "silence"
  | { cut: number }
  | { stop: number }
  | { trickle: number };

export type FakeS3 = {
  url: string;
  objects: Objects["objects"];
  uploads: Objects["uploads"];
  /** The operations of all requests, in order. */
  seen: string[];
  /** Requests that the file store should not have sent. */
  refused: string[];
  /** Decides what goes wrong with a request, by the name of its operation. */
  fault: (operation: string) => Fault | undefined;
  location(prefix: string): S3Location;
  stop(): Promise<void>;
};

/** The credentials, as the default chain finds them. */
export const S3_ENVIRONMENT = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY };

type Asked = { method: string; key: string; query: URLSearchParams; names: string };

const parse = (request: IncomingMessage, url: URL): Asked => {
  const [, bucket, ...rest] = url.pathname.split("/");
  if (bucket !== BUCKET) throw new Refused(404, "NoSuchBucket");
  const key = rest.map(decodeURIComponent).join("/");
  // The client names each operation for the server's logs.
  const query = new URLSearchParams(url.searchParams);
  query.delete("x-id");
  return { method: request.method ?? "", key, query, names: [...query.keys()].toSorted().join() };
};

const OPERATIONS: [name: string, method: string, names: RegExp, inKey: boolean][] = [
  ["PutObject", "PUT", /^$/, true],
  ["GetObject", "GET", /^$/, true],
  ["DeleteObject", "DELETE", /^$/, true],
  ["CreateMultipartUpload", "POST", /^uploads$/, true],
  ["UploadPart", "PUT", /^partNumber,uploadId$/, true],
  ["CompleteMultipartUpload", "POST", /^uploadId$/, true],
  ["AbortMultipartUpload", "DELETE", /^uploadId$/, true],
  ["ListParts", "GET", /^uploadId$/, true],
  ["ListObjects", "GET", /^(continuation-token,)?list-type,prefix$/, false],
  ["ListMultipartUploads", "GET", /^(key-marker,)?prefix(,upload-id-marker)?,uploads$/, false],
];

const findOperation = ({ method, key, names }: Asked): string => {
  const found = OPERATIONS.find(
    ([, verb, pattern, inKey]) => verb === method && pattern.test(names) && inKey === (key !== ""),
  );
  if (found === undefined) throw new Refused(501, "NotImplemented");
  return found[0];
};

const answer = (
  objects: Objects,
  operation: string,
  { key, query }: Asked,
  { headers, body }: { headers: IncomingMessage["headers"]; body: Buffer },
): Answer => {
  const id = query.get("uploadId");
  const acts: Record<string, () => Answer> = {
    PutObject: () => objects.put(key, body),
    GetObject: () => objects.readRange(key, headers.range),
    DeleteObject: () => objects.remove(key),
    CreateMultipartUpload: () => objects.begin(key),
    UploadPart: () => objects.putPart(key, id, Number(query.get("partNumber")), body),
    CompleteMultipartUpload: () => objects.complete(key, id, body.toString()),
    AbortMultipartUpload: () => objects.abort(key, id),
    ListParts: () => objects.listParts(key, id),
    ListObjects: () => objects.list(query),
    ListMultipartUploads: () => objects.listUploads(query),
  };
  const act = acts[operation];
  if (act === undefined) throw new Refused(501, "NotImplemented");
  return act();
};

const PIECE_BYTES = 1024;

const trickle = async (response: ServerResponse, bytes: Buffer, pauseMs: number): Promise<void> => {
  for (let at = 0; at < bytes.length && !response.destroyed; at += PIECE_BYTES) {
    response.write(bytes.subarray(at, at + PIECE_BYTES));
    await pause(pauseMs);
  }
  response.end();
};

const send = (response: ServerResponse, { status, headers, body = "" }: Answer, fault?: Fault) => {
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    ...headers,
    ...(status === 204 ? {} : { "Content-Length": bytes.length }),
  });
  if (typeof fault === "object" && "cut" in fault) {
    response.write(bytes.subarray(0, fault.cut), () => response.destroy());
  } else if (typeof fault === "object" && "stop" in fault) {
    response.write(bytes.subarray(0, fault.stop));
  } else if (typeof fault === "object" && "trickle" in fault) {
    void trickle(response, bytes, fault.trickle);
  } else response.end(bytes);
};

const toXml = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>refused</Message></Error>`;

/** A strict S3 service of one bucket on a socket: it checks every signature and refuses what it does not know. */
export const startFakeS3 = async (pageSize = 1000): Promise<FakeS3> => {
  const objects = createObjects(pageSize);
  const server = createServer((request, response) => void serve(request, response));
  const fake: FakeS3 = {
    url: "",
    objects: objects.objects,
    uploads: objects.uploads,
    seen: [],
    refused: [],
    fault: () => undefined,
    location: (prefix) => ({ bucket: BUCKET, prefix, endpoint: fake.url, region: REGION }),
    stop: () => closeNow(server),
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "", fake.url);
    try {
      const body = await buffer(request);
      const asked = parse(request, url);
      const operation = findOperation(asked);
      fake.seen.push(operation);
      const wrong = findSignatureFault(request, url, body);
      if (wrong !== undefined) throw new Refused(403, `SignatureDoesNotMatch: ${wrong}`);
      if (body.length !== Number(request.headers["content-length"] ?? 0)) {
        throw new Refused(411, "MissingContentLength");
      }
      const fault = fake.fault(operation);
      if (fault === "silence") return;
      if (fault !== undefined && "status" in fault) {
        send(response, { status: fault.status, body: toXml(fault.code) });
        return;
      }
      send(response, answer(objects, operation, asked, { headers: request.headers, body }), fault);
    } catch (error) {
      const { status, code } = error instanceof Refused ? error : new Refused(400, String(error));
      // A missing object is an answer; anything else means that the file store asked wrongly.
      if (status !== 404) fake.refused.push(`${request.method} ${request.url}: ${code}`);
      if (!response.headersSent) send(response, { status, body: toXml(code) });
    }
  };

  fake.url = `http://127.0.0.1:${await listen(server)}`;
  return fake;
};
