import type { Prompt } from "./prompt.ts";
import { renderTask } from "./skills/skill.ts";
import { workADispute } from "./skills/work-a-dispute.ts";

export const workDispute: Prompt = {
  name: "work-dispute",
  title: "Work one dispute",
  description: "Analyze one dispute, agree on the next step with the person, and carry it out.",
  arguments: [{ name: "disputeId", description: "id or code of the dispute", of: "dispute" }],
  toolsets: ["insights", "disputes"],
  insight: ({ disputeId = "" }) => ({ name: "dispute_packet", args: { disputeId } }),
  text: (
    { disputeId = "" },
    has,
  ) => `Work dispute ${JSON.stringify(disputeId)} with me. The answer of dispute_packet is attached.

${renderTask(workADispute, has)}`,
};
