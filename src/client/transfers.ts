import { Agent, type Dispatcher, errors } from "undici";
import { findProxy, getProxies } from "../kit/proxy.ts";
import { connectThrough } from "../kit/tunnel.ts";
import { createDispatcher } from "./dispatcher.ts";
import { type Code, Problem, type ProblemDetails } from "../contract/errors.ts";
import { SECOND } from "../kit/clock.ts";
import {
  BlockedAddress,
  resolvePublic,
  type HostNeeds,
  createPinnedLookup,
} from "../kit/network.ts";
import { withDeadline } from "./deadline.ts";
import { TransportFault } from "./fault.ts";
import { describeFile } from "./file.ts";

/** A file to upload to a signed URL; `size` in bytes. */
export type Outgoing = { size: number; bytes: Uint8Array | AsyncIterable<Uint8Array> };

export type Incoming = {
  mimeType: string;
  /** Bytes; undefined without a Content-Length. */
  fileSize: number | undefined;
  /** The file, or its first bytes if `part` was set; undefined when it is larger than `maxBytes`. */
  bytes: Uint8Array | undefined;
};

export type DownloadLimit = {
  maxBytes: number;
  /** Return the first bytes of a file that is larger. */
  part: boolean;
};

/** Uploads files to signed URLs and downloads them. Throws Problem. */
export type Transfers = {
  put(url: string, file: Outgoing, signal?: AbortSignal): Promise<void>;
  get(url: string, wanted: DownloadLimit, signal?: AbortSignal): Promise<Incoming>;
};

export type TransferNeeds = HostNeeds & {
  /** Whether a URL belongs to the configured platform, which may have a private address. */
  isOwn(url: URL): boolean;
  /** Time limit of a transfer in milliseconds, in addition to the time that its bytes need. */
  requestMs: number;
};

/** A slower connection counts as stalled. */
const MIN_BYTES_PER_SECOND = 64 * 1024;

const CODES: Record<number, Code> = {
  403: "signed_url_refused",
  404: "signed_url_refused",
  409: "conflict",
  411: "length_required",
  413: "payload_too_large",
  507: "storage_quota_exceeded",
};

type Request = Omit<Dispatcher.RequestOptions, "origin" | "path" | "signal">;
type Bounds = { bytes: number; signal: AbortSignal | undefined };

const transferFailed = (why: string, cause?: unknown, details: ProblemDetails = {}): Problem =>
  new Problem("unavailable", `The file cannot be transferred: ${why}.`, details, cause);

const toRefusal = (status: number): Problem => {
  const code = CODES[status];
  if (code === undefined) return transferFailed(`its store answered with status ${status}`);
  const message = `The file's store refused it with status ${status}.`;
  return new Problem(code, message);
};

const parseTransferUrl = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw transferFailed("its URL is invalid");
  if (url.username + url.password !== "") throw transferFailed("its URL holds a credential");
  return url;
};

const toTransferProblem = (error: unknown): unknown => {
  if (error instanceof Problem) return error;
  if (error instanceof TransportFault && error.kind === "canceled") {
    return transferFailed("the call was canceled", error);
  }
  if (error instanceof BlockedAddress) {
    return transferFailed("its URL leads to an address that is not public", error);
  }
  const late =
    error instanceof TransportFault ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError;
  return transferFailed(late ? "its store did not answer in time" : "the connection failed", error);
};

const readUpTo = async (
  body: AsyncIterable<Uint8Array>,
  { maxBytes, part }: DownloadLimit,
): Promise<Uint8Array | undefined> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    parts.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) break;
  }
  if (size > maxBytes && !part) return undefined;
  return Buffer.concat(parts).subarray(0, maxBytes);
};

const firstHeader = (value: string | string[] | undefined): string => String(value ?? "");

/** Creates a dispatcher that reaches a checked address through a proxy. */
const createTunnelDispatcher = (
  proxy: URL,
  url: URL,
  addresses: readonly string[],
  timeouts: Agent.Options & { headersTimeout: number },
): Dispatcher =>
  new Agent({
    ...timeouts,
    connect(_options, done) {
      const signal = AbortSignal.timeout(timeouts.headersTimeout);
      const act = async (): Promise<void> => {
        try {
          done(null, await connectThrough(proxy, url, addresses, { signal }));
        } catch (error) {
          done(error as Error, null);
        }
      };
      void act();
    },
  });

const createAgent = async (
  { isOwn, resolve, allowed, requestMs }: TransferNeeds,
  url: URL,
): Promise<Dispatcher> => {
  const timeouts = { headersTimeout: requestMs, bodyTimeout: requestMs, allowH2: false };
  if (isOwn(url)) return createDispatcher({ ...timeouts, connect: { timeout: requestMs } });
  if (url.protocol !== "https:") {
    const why =
      "its URL is neither https nor at the platform's configured address, so RECEIVABLES_BASE_URL here and" +
      " RECEIVABLES_PUBLIC_URL of the platform differ";
    throw transferFailed(why, undefined, { misconfigured: true });
  }
  const addresses = await resolvePublic(url.hostname, { resolve, allowed });
  const proxy = findProxy(getProxies(), url);
  if (proxy !== undefined) return createTunnelDispatcher(proxy, url, addresses, timeouts);
  const lookup = createPinnedLookup(addresses);
  return new Agent({ ...timeouts, connect: { timeout: requestMs, lookup } });
};

type Read<T> = (answer: Dispatcher.ResponseData) => Promise<T>;

const send = async <T>(
  needs: TransferNeeds,
  text: string,
  request: Request & { signal: AbortSignal },
  read: Read<T>,
): Promise<T> => {
  const url = parseTransferUrl(text);
  const agent = await createAgent(needs, url);
  try {
    const path = url.pathname + url.search;
    const answer = await agent.request({ ...request, origin: url.origin, path });
    if (answer.statusCode < 200 || answer.statusCode > 299) throw toRefusal(answer.statusCode);
    return await read(answer);
  } finally {
    await agent.destroy();
  }
};

/** Sends a request under a time limit that grows with the bytes to transfer. Throws Problem. */
const exchange = async <T>(
  needs: TransferNeeds,
  url: string,
  { bytes, signal, ...request }: Request & Bounds,
  read: Read<T>,
): Promise<T> => {
  const limitMs = needs.requestMs + (bytes / MIN_BYTES_PER_SECOND) * SECOND;
  try {
    return await withDeadline(limitMs, signal, (ending) =>
      send(needs, url, { ...request, signal: ending }, read),
    );
  } catch (error) {
    throw toTransferProblem(error);
  }
};

const readDownload = async (
  { headers, body }: Dispatcher.ResponseData,
  limit: DownloadLimit,
): Promise<Incoming> => {
  const { mimeType, fileSize } = describeFile({
    status: 200,
    body: "",
    headers: {
      "content-type": firstHeader(headers["content-type"]),
      "content-length": firstHeader(headers["content-length"]),
    },
  });
  const isLarge = !limit.part && fileSize !== undefined && fileSize > limit.maxBytes;
  const bytes = isLarge ? undefined : await readUpTo(body, limit);
  return { mimeType, fileSize, bytes };
};

/**
 * Creates transfers to signed URLs. Such URLs are foreign input: requests carry no credential, follow no redirect, and
 * go over TLS to public addresses only, unless the URL is the platform's own.
 */
export const createTransfers = (needs: TransferNeeds): Transfers => ({
  put: (url, { size, bytes }, signal) => {
    const body = bytes instanceof Uint8Array ? Buffer.from(bytes) : bytes;
    const headers = { "content-length": String(size) };
    const request = { method: "PUT", headers, body: body as Buffer, bytes: size, signal };
    return exchange(needs, url, request, async () => {});
  },
  get: (url, limit, signal) =>
    exchange(needs, url, { method: "GET", bytes: limit.maxBytes, signal }, (answer) =>
      readDownload(answer, limit),
    ),
});
