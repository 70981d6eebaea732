import { Agent, type Dispatcher, errors } from "undici";
import { type Code, Problem } from "../contract/errors.ts";
import { SECOND } from "../kit/clock.ts";
import { BlockedAddress, checkedAddresses, type HostNeeds, pinnedTo } from "../kit/network.ts";
import { withDeadline } from "./deadline.ts";
import { TransportFault } from "./fault.ts";
import { describeFile } from "./file.ts";

/** A file on its way to a signed URL. */
export type Outgoing = { size: number; bytes: Uint8Array | AsyncIterable<Uint8Array> };

export type Incoming = {
  mimeType: string;
  /** bytes; undefined where the sender does not say */
  fileSize: number | undefined;
  /** The whole file, or its beginning where a part was asked for; undefined where it is larger than was asked for. */
  bytes: Uint8Array | undefined;
};

export type Wanted = {
  maxBytes: number;
  /** The beginning of a larger file is of use. */ part: boolean;
};

/** Sends files to signed URLs and gets them from there. Throws Problem. */
export type Transfers = {
  put(url: string, file: Outgoing, signal?: AbortSignal): Promise<void>;
  get(url: string, wanted: Wanted, signal?: AbortSignal): Promise<Incoming>;
};

export type TransferNeeds = HostNeeds & {
  /** Whether a URL leads to the platform itself, which is wherever it is. */
  isOwn(url: URL): boolean;
  /** How long a transfer may take beside the time that its bytes need. */
  requestMs: number;
};

/** A connection that is slower than this is taken for one that has stalled. */
const MIN_BYTES_PER_SECOND = 64 * 1024;

const CODES: Record<number, Code> = {
  403: "signed_url_refused",
  404: "signed_url_refused",
  409: "conflict",
  411: "length_required",
  413: "payload_too_large",
};

type Request = Omit<Dispatcher.RequestOptions, "origin" | "path" | "signal">;
type Bounds = { bytes: number; signal: AbortSignal | undefined };

const unavailable = (why: string, cause?: unknown): Problem =>
  new Problem("unavailable", `The file cannot be transferred: ${why}.`, {}, cause);

const refusalOf = (status: number): Problem => {
  const code = CODES[status];
  if (code === undefined) return unavailable(`its store answered with status ${status}`);
  const message = `The file's store refused it with status ${status}.`;
  return new Problem(code, message);
};

const parsed = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw unavailable("its URL is none");
  if (url.username + url.password !== "") throw unavailable("its URL holds a credential");
  return url;
};

const asProblem = (error: unknown): unknown => {
  if (error instanceof Problem) return error;
  if (error instanceof TransportFault && error.kind === "canceled") {
    return unavailable("the call was canceled", error);
  }
  if (error instanceof BlockedAddress) {
    return unavailable("its URL leads to an address that is not public", error);
  }
  const late =
    error instanceof TransportFault ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError;
  return unavailable(late ? "its store did not answer in time" : "the connection failed", error);
};

const beginning = async (
  body: AsyncIterable<Uint8Array>,
  { maxBytes, part }: Wanted,
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

const headerOf = (value: string | string[] | undefined): string => String(value ?? "");

/**
 * Signed URLs come from outside: what is sent there bears no credential of the platform's, goes to public addresses
 * alone unless it is the platform itself, over TLS, and follows nobody elsewhere.
 */
export const createTransfers = ({
  isOwn,
  resolve,
  allowed,
  requestMs,
}: TransferNeeds): Transfers => {
  const agentFor = async (url: URL): Promise<Agent> => {
    const timeouts = { headersTimeout: requestMs, bodyTimeout: requestMs, allowH2: false };
    if (isOwn(url)) return new Agent({ ...timeouts, connect: { timeout: requestMs } });
    if (url.protocol !== "https:") throw unavailable("its URL is not https");
    const addresses = await checkedAddresses(url.hostname, { resolve, allowed });
    const lookup = pinnedTo(addresses);
    return new Agent({ ...timeouts, connect: { timeout: requestMs, lookup } });
  };

  const transfer = async <T>(
    text: string,
    request: Request & { signal: AbortSignal },
    read: (answer: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<T> => {
    const url = parsed(text);
    const agent = await agentFor(url);
    try {
      const path = url.pathname + url.search;
      const answer = await agent.request({ ...request, origin: url.origin, path });
      if (answer.statusCode < 200 || answer.statusCode > 299) throw refusalOf(answer.statusCode);
      return await read(answer);
    } finally {
      await agent.destroy();
    }
  };

  const exchange = async <T>(
    text: string,
    { bytes, signal, ...request }: Request & Bounds,
    read: (answer: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<T> => {
    const most = requestMs + (bytes / MIN_BYTES_PER_SECOND) * SECOND;
    try {
      return await withDeadline(most, signal, (ending) =>
        transfer(text, { ...request, signal: ending }, read),
      );
    } catch (error) {
      throw asProblem(error);
    }
  };

  return {
    put: (url, { size, bytes }, signal) => {
      const body = bytes instanceof Uint8Array ? Buffer.from(bytes) : bytes;
      const headers = { "content-length": String(size) };
      const request = { method: "PUT", headers, body: body as Buffer, bytes: size, signal };
      return exchange(url, request, async () => {});
    },
    get: (url, wanted, signal) =>
      exchange(
        url,
        { method: "GET", bytes: wanted.maxBytes, signal },
        async ({ headers, body }) => {
          const { mimeType, fileSize } = describeFile({
            status: 200,
            body: "",
            headers: {
              "content-type": headerOf(headers["content-type"]),
              "content-length": headerOf(headers["content-length"]),
            },
          });
          const isLarge = !wanted.part && fileSize !== undefined && fileSize > wanted.maxBytes;
          const bytes = isLarge ? undefined : await beginning(body, wanted);
          return { mimeType, fileSize, bytes };
        },
      ),
  };
};
