import { setTimeout as delay } from "node:timers/promises";
import {
  fromJsonSchema,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { PNG, said, WAV } from "./content.ts";

const NOTHING = z.object({});
// The suite listens for what arrives before the answer.
const PAUSE_MS = 20;

const addContent = (server: McpServer): void => {
  const file = (uri: string, mimeType: string, text: string) => ({
    type: "resource" as const,
    resource: { uri, mimeType, text },
  });
  const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
  server.registerTool("test_simple_text", { description: "Answers with a line of text." }, () =>
    said("A line of text."),
  );
  server.registerTool("test_image_content", { description: "Answers with an image." }, () => ({
    content: [image],
  }));
  server.registerTool("test_audio_content", { description: "Answers with a recording." }, () => ({
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }));
  server.registerTool(
    "test_embedded_resource",
    { description: "Answers with a resource inside the answer." },
    () => ({ content: [file("test://embedded-resource", "text/plain", "Inside the answer.")] }),
  );
  server.registerTool(
    "test_multiple_content_types",
    { description: "Answers with text, an image and a resource." },
    () => ({
      content: [
        { type: "text", text: "Three kinds:" },
        image,
        file("test://mixed-content-resource", "application/json", '{"kinds":3}'),
      ],
    }),
  );
  server.registerTool("test_error_handling", { description: "Fails." }, () => {
    throw new Error("This tool fails on purpose.");
  });
};

const notifyOften = async (
  { mcpReq }: ServerContext,
  notifications: { method: string; params: Record<string, unknown> }[],
): Promise<void> => {
  for (const notification of notifications) {
    await mcpReq.notify(notification);
    await delay(PAUSE_MS);
  }
};

const addTelling = (server: McpServer): void => {
  server.registerTool(
    "test_tool_with_logging",
    { description: "Logs three lines.", inputSchema: NOTHING },
    async (_args, context) => {
      const lines = ["begun", "under way", "done"];
      await notifyOften(
        context,
        lines.map((data) => ({ method: "notifications/message", params: { level: "info", data } })),
      );
      return said("Three lines were logged.");
    },
  );
  server.registerTool(
    "test_logging_tool",
    { description: "Logs a line to hosts that have asked for it.", inputSchema: NOTHING },
    async (_args, { mcpReq }) => {
      await mcpReq.log("info", "asked for");
      return said("Whoever asked for it has the line.");
    },
  );
  server.registerTool(
    "test_tool_with_progress",
    { description: "Tells of its progress.", inputSchema: NOTHING },
    async (_args, context) => {
      const token = context.mcpReq._meta?.progressToken;
      const steps = token === undefined ? [] : [0, 50, 100];
      await notifyOften(
        context,
        steps.map((progress) => ({
          method: "notifications/progress",
          params: { progressToken: token, progress, total: 100, message: `${progress} %` },
        })),
      );
      return said(String(token ?? "nobody asked"));
    },
  );
};

// Every part of JSON Schema of 2020-12 that must reach the host as it is written here.
const RICH_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
} as const;

const HEADER_SCHEMA = {
  type: "object",
  properties: {
    region: { type: "string", description: "Sent as a header too.", "x-mcp-header": "Region" },
    level: { type: "integer", description: "Sent in the body alone." },
  },
} as const;

const rich = fromJsonSchema(RICH_SCHEMA as never);
const mirrored = fromJsonSchema<{ region?: string }>(HEADER_SCHEMA);

const addSchemas = (server: McpServer): void => {
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Has a schema with all of JSON Schema in it.", inputSchema: rich },
    (args) => said(JSON.stringify(args)),
  );
  server.registerTool(
    "test_x_mcp_header",
    { description: "Has an argument that hosts send as a header too.", inputSchema: mirrored },
    ({ region = "none" }) => said(region),
  );
};

const addStateless = (server: McpServer): void => {
  server.registerTool(
    "test_missing_capability",
    { description: "Needs a host that can sample.", inputSchema: NOTHING },
    (_args, { mcpReq }) =>
      mcpReq.inputResponses?.["word"] === undefined
        ? inputRequired({
            inputRequests: {
              word: inputRequired.createMessage({
                messages: [{ role: "user", content: { type: "text", text: "Say a word." } }],
                maxTokens: 16,
              }),
            },
          })
        : said("A word was said."),
  );
  server.registerTool(
    "test_streaming_elicitation",
    { description: "Sends no request of its own.", inputSchema: NOTHING },
    () => said("Nothing was asked."),
  );
};

/** Adds the suite's tools with responses of every kind. */
export const addTools = (server: McpServer): void => {
  addContent(server);
  addTelling(server);
  addSchemas(server);
  addStateless(server);
};
