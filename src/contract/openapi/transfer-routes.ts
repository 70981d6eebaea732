import { type Code, ERRORS } from "../errors.ts";
import { MAX_FILE_BYTES } from "../file-types.ts";
import { buildHeaderRefs } from "./headers.ts";

const TEXT = { type: "string" };

const buildParameters = (id: string): object[] => [
  { name: id, in: "path", required: true, schema: TEXT },
  { name: "expires", in: "query", required: true, schema: TEXT, description: "epoch seconds" },
  { name: "sig", in: "query", required: true, schema: TEXT },
];

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

/** Where signed URLs lead, which answers of the attachments' operations hold. */
export const transferRoutes: Record<string, object> = {
  "/uploads/{uploadId}": {
    put: {
      ...buildRouteHead("dispute_attachments.upload", "Upload the file of an attachment, once."),
      description: `The URL is all the credential. The body is the file, of ${MAX_FILE_BYTES} bytes at most, with a Content-Length.`,
      parameters: buildParameters("uploadId"),
      requestBody: { required: true, content: { "application/octet-stream": { schema: {} } } },
      responses: {
        204: { description: "Kept; the scan follows.", headers: buildHeaderRefs(["X-Request-Id"]) },
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
      ...buildRouteHead("dispute_attachments.download", "Download the file of an attachment."),
      description: "The URL is all the credential. The content type is that of the file's name.",
      parameters: buildParameters("attachmentId"),
      responses: {
        200: {
          description: "The file, to be saved.",
          headers: buildHeaderRefs(["X-Request-Id", "Content-Disposition", "Content-Length"]),
          content: { "application/octet-stream": { schema: {} } },
        },
        ...buildErrorResponses(["signed_url_refused", "internal", "unavailable"]),
      },
    },
  },
};
