import type { Toolset } from "../../../tools/toolsets.ts";
import { everyTool } from "./every-tool.ts";
import type { ListSettings } from "./toolsets.ts";

type OfferSettings = Pick<ListSettings, "toolsets" | "lacksExportKey">;

const keyless = new Set(
  everyTool.flatMap(({ toolset, needsExportKey }) => (needsExportKey ? [] : [toolset])),
);

/** Returns the enabled toolsets, without those of which every tool needs a key that no caller can have. */
export const offeredToolsets = ({ toolsets, lacksExportKey }: OfferSettings): readonly Toolset[] =>
  lacksExportKey === true ? toolsets.filter((toolset) => keyless.has(toolset)) : toolsets;
