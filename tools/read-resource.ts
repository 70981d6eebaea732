import { z } from "zod";
import { contract } from "../src/contract/index.ts";
import { Cursor } from "../src/contract/fields.ts";
import { defineOperation } from "../src/contract/operation.ts";
import { defineTool } from "./tool.ts";

const { profile } = contract.users;

const MAX_URI = 8192;

/** Reads a resource as one operation; the MCP server runs it as the operations that the resource needs. */
export const readResource = defineOperation({
  id: "resources.read",
  service: profile.service,
  method: "GET",
  path: profile.path,
  access: "member",
  summary: "Read a resource by its URI, for hosts without resources; files come as text.",
  query: z.object({
    uri: z
      .string()
      .min(1)
      .max(MAX_URI)
      .meta({ description: "such as receivables://guide or receivables://disputes/D-INV-1-01" }),
    cursor: Cursor.optional(),
  }),
  output: z.object({
    uri: z.string(),
    mimeType: z.string(),
    content: z.record(z.string(), z.unknown()).optional(),
    text: z.string().optional(),
    nextCursor: z.string().optional(),
  }),
  audit: "resource.read",
});

export const readResourceTool = {
  ...defineTool(readResource, undefined, { title: "Read a resource" }),
  name: "read_resource",
};
