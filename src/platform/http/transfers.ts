import { Problem } from "../../contract/errors.ts";
import type { Span } from "../files/port.ts";
import type { Claim } from "../files/signed-urls.ts";
import type { Transfers } from "../services/dispute-attachments/transfers.ts";
import { type Sending, toResponse } from "./response.ts";
import { checkBodyHeaders } from "./input.ts";
import { buildCommonHeaders, findHeader } from "./headers.ts";

type Answer = Omit<Sending, "method"> & { requestId: string };

/** A route for signed URLs. `serve` throws refusals as Problems. */
export type TransferRoute = {
  method: "PUT" | "GET";
  path: string;
  serve(request: Request, id: string, answer: Answer): Promise<Response>;
};

const claimIn = ({ searchParams }: URL): Claim => ({
  expires: searchParams.get("expires") ?? "",
  sig: searchParams.get("sig") ?? "",
});

const LENGTH = /^\d{1,15}$/;

const parseLength = ({ headers }: Request): number | undefined => {
  const length = headers.get("content-length") ?? "";
  return LENGTH.test(length) ? Number(length) : undefined;
};

// Some clients write the largest number of 64 bits for the end of a file.
const RANGE = /^\s{0,9}bytes\s{0,9}=\s{0,9}(\d{0,30})\s{0,9}-\s{0,9}(\d{0,30})\s{0,9}$/i;

/**
 * Returns the bytes that a request asks for with Range (RFC 9110); undefined for the whole file, also for several ranges
 * and for a range of another version of it.
 *
 * @throws {Problem} range_not_satisfiable
 */
const parseRange = (
  { method, headers }: Pick<Request, "method" | "headers">,
  size: number,
  etag: string,
): Span | undefined => {
  const [, first = "", last = ""] = RANGE.exec(headers.get("range") ?? "") ?? [];
  const isReversed = first !== "" && last !== "" && Number(last) < Number(first);
  const isOther = (findHeader({ headers }, "if-range") ?? etag) !== etag;
  if (method !== "GET" || first + last === "" || isReversed || isOther) return undefined;
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (from < to) return { from, to };
  const details = { headers: { "Content-Range": `bytes */${size}` } };
  throw new Problem("range_not_satisfiable", `The file has ${size} bytes.`, details);
};

/** Creates the upload and download routes of dispute attachments. */
export const transferRoutes = ({ upload, download }: Transfers): TransferRoute[] => [
  {
    method: "PUT",
    path: "/uploads/{uploadId}",
    async serve(request, id, { requestId, done }) {
      checkBodyHeaders(request);
      const size = parseLength(request);
      await upload(id, claimIn(new URL(request.url)), {
        size,
        body: request.body ?? new Blob([]).stream(),
      });
      done(0);
      return new Response(null, { status: 204, headers: buildCommonHeaders(requestId) });
    },
  },
  {
    method: "GET",
    path: "/downloads/{attachmentId}",
    async serve(request, id, { requestId, ...sending }) {
      const url = new URL(request.url);
      const file = await download(id, claimIn(url), (size, etag) =>
        parseRange(request, size, etag),
      );
      return toResponse(
        { method: request.method, ...sending },
        200,
        file,
        url,
        buildCommonHeaders(requestId),
      );
    },
  },
];
