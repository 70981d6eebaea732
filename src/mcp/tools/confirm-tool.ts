import { CONFIRM_TOOL } from "../../views/views.ts";
import type { ListedTool } from "./every-tool.ts";

/**
 * The tool by which the confirmation view tells the person's answer, for clients that show views. Hosts list it to views
 * alone, and no model has a ticket. It does what the call that the person was asked about does, so it announces that.
 */
export const confirmTool: ListedTool = {
  name: CONFIRM_TOOL,
  title: "Answer a question",
  description:
    "For the confirmation view alone: carries out, once, the call that the person has approved there, or drops it.",
  inputSchema: {
    type: "object",
    properties: {
      ticket: { type: "string", description: "the ticket in the metadata of the call's result" },
      decline: { type: "boolean", description: "true if the person said no" },
    },
    required: ["ticket"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { declined: { type: "boolean" } } },
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  _meta: { ui: { visibility: ["app"] } },
};
