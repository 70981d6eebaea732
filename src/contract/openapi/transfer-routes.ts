import { type Code, ERRORS } from "../errors.ts";
import { MAX_FILE_BYTES } from "../file-types.ts";
import { describeName } from "./descriptions.ts";
import { buildHeaderRefs } from "./headers.ts";

const TEXT = { type: "string" };

const buildParameters = (id: string): object[] => [
  { name: id, in: "path", required: true, schema: TEXT, description: describeName(id) },
  {
    name: "expires",
    in: "query",
    required: true,
    schema: TEXT,
    description: "Expiry in Unix seconds.",
  },
  { name: "sig", in: "query", required: true, schema: TEXT, description: describeName("sig") },
];

const DOWNLOAD_HEADERS = ["X-Request-Id", "Content-Disposition", "Content-Length", "ETag"] as const;

const buildErrorResponses = (codes: readonly Code[]): Record<string, object> =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => ERRORS[code].status)].map(([status, same]) => [
      String(status),
      {
        description: same.map((code) => `${ERRORS[code].title} (\`${code}\`).`).join("\n"),
        headers: buildHeaderRefs(["X-Request-Id"]),
        content: {
          "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
        },
      },
    ]),
  );

const buildRouteHead = (operationId: string, summary: string): object => ({
  operationId,
  tags: ["dispute attachments"],
  summary,
  security: [],
});

/** Routes of the signed URLs that attachment operations return. */
export const transferRoutes: Record<string, object> = {
  "/uploads/{uploadId}": {
    put: {
      ...buildRouteHead(
        "dispute_attachments.upload",
        "Upload an attachment's file; each URL works once.",
      ),
      description: `The signed URL is the credential. The body is the file, at most ${MAX_FILE_BYTES} bytes; Content-Length is required.`,
      parameters: buildParameters("uploadId"),
      requestBody: { required: true, content: { "application/octet-stream": { schema: {} } } },
      responses: {
        204: {
          description: "The file is stored and will be scanned.",
          headers: buildHeaderRefs(["X-Request-Id"]),
        },
        ...buildErrorResponses([
          "invalid_request",
          "signed_url_refused",
          "conflict",
          "length_required",
          "payload_too_large",
          "internal",
          "unavailable",
        ]),
      },
    },
  },
  "/downloads/{attachmentId}": {
    get: {
      ...buildRouteHead("dispute_attachments.download", "Download an attachment's file."),
      description:
        "The signed URL is the credential. The content type follows from the file extension. One range of bytes can be requested.",
      parameters: [
        ...buildParameters("attachmentId"),
        {
          name: "Range",
          in: "header",
          schema: TEXT,
          description: "one range of bytes",
          example: "bytes=0-1023",
        },
        {
          name: "If-Range",
          in: "header",
          schema: TEXT,
          description: "`ETag` of an earlier response; another file is sent whole",
        },
      ],
      responses: {
        200: {
          description: "The file, as a download.",
          headers: buildHeaderRefs(DOWNLOAD_HEADERS),
          content: { "application/octet-stream": { schema: {} } },
        },
        206: {
          description: "The requested range of the file.",
          headers: buildHeaderRefs([...DOWNLOAD_HEADERS, "Content-Range"]),
          content: { "application/octet-stream": { schema: {} } },
        },
        ...buildErrorResponses([
          "signed_url_refused",
          "range_not_satisfiable",
          "internal",
          "unavailable",
        ]),
      },
    },
  },
};
