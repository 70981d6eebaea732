import type { CallToolResult } from "@modelcontextprotocol/server";
import { Problem } from "../../contract/errors.ts";
import type { Fields } from "./budget.ts";
import { attachmentUri } from "../../insights/record-uris.ts";

const MIB = 1024 * 1024;

/** A larger file is not put into an answer; the host reads it by its address if it wants it. */
export const MAX_EMBEDDED_BYTES = MIB;

/** Hosts read messages of 10 MB; a file is a third larger in one than it is. */
export const MAX_RESOURCE_BYTES = 7 * MIB;

/** Describes a file in an answer, without its bytes. */
export const fileRecord = (
  { document_number, id }: Record<string, unknown>,
  output: Fields,
): Fields => ({
  document_number,
  id,
  ...output,
  resourceUri: attachmentUri(String(document_number), String(id)),
});

/** The content of a file as a resource has it. */
export type FileContent = { mimeType: string } & (
  | { text: string; /** Continues the text. */ nextCursor?: string }
  | { blob: string }
);

/** Creates the problem of a file that is too large for a resource. */
export const tooLargeToRead = (fileSize: unknown): Problem =>
  new Problem(
    "payload_too_large",
    `The file has ${String(fileSize)} bytes; a resource may have ${MAX_RESOURCE_BYTES}.`,
  );

export const blobOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** An answer about a file, with the file itself or where to read it. */
export const withFile = (
  answer: CallToolResult,
  { resourceUri, mimeType, fileName, fileSize }: Fields,
  bytes: Uint8Array | undefined,
): CallToolResult => {
  const file = { uri: String(resourceUri), mimeType: String(mimeType) };
  const part =
    bytes === undefined
      ? {
          type: "resource_link" as const,
          ...file,
          name: String(fileName),
          ...(typeof fileSize === "number" ? { size: fileSize } : {}),
        }
      : { type: "resource" as const, resource: { ...file, blob: blobOf(bytes) } };
  return { ...answer, content: [...answer.content, part] };
};
