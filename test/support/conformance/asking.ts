import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { said } from "./content.ts";

const OPTIONS = ["one", "two", "three"];
const TITLED = OPTIONS.map((option) => ({ const: option, title: `Option ${option}` }));

const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const CHOICES = {
  untitledSingle: { type: "string", enum: OPTIONS },
  titledSingle: { type: "string", oneOf: TITLED },
  legacyEnum: { type: "string", enum: OPTIONS, enumNames: TITLED.map(({ title }) => title) },
  untitledMulti: {
    type: "array",
    minItems: 1,
    maxItems: 3,
    items: { type: "string", enum: OPTIONS },
  },
  titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: TITLED } },
};

/** Asks by a form while the call waits, as the protocol of 2025 does. */
const ask = async (
  { mcpReq }: ServerContext,
  message: string,
  properties: Record<string, unknown>,
  required: string[] = [],
) => {
  const requestedSchema = { type: "object" as const, properties: properties as never, required };
  const { action, content } = await mcpReq.send({
    method: "elicitation/create",
    params: { message, requestedSchema },
  });
  return said(`action=${action}, content=${JSON.stringify(content ?? {})}`);
};

/** Tools that ask the host while their call waits. */
export const addAsking = (server: McpServer): void => {
  const inputSchema = z.object({});
  server.registerTool(
    "test_sampling",
    { description: "Has the host's model answer.", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.send({
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: prompt } }],
          maxTokens: 100,
        },
      });
      return said(JSON.stringify(content));
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks a person.", inputSchema: z.object({ message: z.string() }) },
    ({ message }, context) => ask(context, message, { response: { type: "string" } }, ["response"]),
  );
  server.registerTool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks with a form that is filled in.", inputSchema },
    (_args, context) => ask(context, "Is this right?", DEFAULTS),
  );
  server.registerTool(
    "test_elicitation_sep1330_enums",
    { description: "Asks for choices of every form.", inputSchema },
    (_args, context) => ask(context, "Which?", CHOICES),
  );
};
