import type { Claim } from "../files/signed-urls.ts";
import type { Transfers } from "../services/dispute-attachments/transfers.ts";
import { answer } from "./answer.ts";
import { commonHeaders } from "./headers.ts";

/** A route that a signed URL opens; refusals are thrown. */
export type TransferRoute = {
  method: "PUT" | "GET";
  path: string;
  serve(request: Request, id: string, requestId: string): Promise<Response>;
};

const claimIn = ({ searchParams }: URL): Claim => ({
  expires: searchParams.get("expires") ?? "",
  sig: searchParams.get("sig") ?? "",
});

const LENGTH = /^\d{1,15}$/;

const lengthIn = ({ headers }: Request): number | undefined => {
  const length = headers.get("content-length") ?? "";
  return LENGTH.test(length) ? Number(length) : undefined;
};

const EMPTY = new Blob([]);

/** Where the bytes of disputes' files go and come from. */
export const transferRoutes = ({ upload, download }: Transfers): TransferRoute[] => [
  {
    method: "PUT",
    path: "/uploads/{uploadId}",
    async serve(request, id, requestId) {
      const size = lengthIn(request);
      await upload(id, claimIn(new URL(request.url)), {
        size,
        body: request.body ?? EMPTY.stream(),
      });
      return new Response(null, { status: 204, headers: commonHeaders(requestId) });
    },
  },
  {
    method: "GET",
    path: "/downloads/{attachmentId}",
    async serve(request, id, requestId) {
      const url = new URL(request.url);
      const file = await download(id, claimIn(url));
      return answer(request, 200, file, url, commonHeaders(requestId));
    },
  },
];
