import { CONFIRM_TOOL, CONFIRM_URI, toViewMeta } from "../../../views/views.ts";
import { CALLS, toInput, toOutput } from "./discovery-tools.ts";
import type { ListedTool } from "./every-tool.ts";
import type { JsonSchema } from "./schemas.ts";

/**
 * The tool by which the confirmation view tells the person's answer, for clients that show views. Hosts list it to views
 * alone, and no model has a ticket. It does what the call that the person was asked about does, so it announces that.
 */
const confirmTool: ListedTool = {
  name: CONFIRM_TOOL,
  title: "Answer a question",
  description:
    "For the confirmation view alone: carries out, once, the call that the person has approved there, or drops it.",
  inputSchema: toInput(
    {
      ticket: { type: "string", description: "the ticket in the metadata of the call's result" },
      decline: { type: "boolean", description: "true if the person said no" },
    },
    ["ticket"],
  ),
  outputSchema: toOutput({ declined: { type: "boolean" } }),
  annotations: CALLS,
  _meta: { ui: { visibility: ["app"] } },
};

/** A question that waits for the person's answer in the confirmation view. */
const WAITING: JsonSchema = {
  type: "object",
  properties: { question: { type: "string" }, expiresAt: { type: "string" } },
};

/** Returns the tools that ask with the confirmation view, and the tool by which the view answers, if any tool asks. */
export const withConfirmView = (
  tools: readonly ListedTool[],
  isAsking: (tool: ListedTool) => boolean,
): readonly ListedTool[] => {
  if (!tools.some(isAsking)) return tools;
  const withView = (tool: ListedTool): ListedTool => {
    const { properties } = tool.outputSchema;
    const outputSchema = { ...tool.outputSchema, properties: { ...properties, waiting: WAITING } };
    return { ...tool, outputSchema, _meta: { ...tool._meta, ...toViewMeta(CONFIRM_URI) } };
  };
  return [...tools.map((tool) => (isAsking(tool) ? withView(tool) : tool)), confirmTool];
};
