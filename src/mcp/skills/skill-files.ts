import type { Resource } from "@modelcontextprotocol/server";
import { skills } from "../../../prompts/skills/index.ts";
import { renderFiles, type Skill } from "../../../prompts/skills/skill.ts";
import type { Settings } from "../../config/settings.ts";
import { listChecker, offeredToolsets } from "../tools/listing/tool-list.ts";

export const SKILL_SCHEME = "skill://";
export const SKILL_TYPE = "text/markdown";

export const isSkillUri = (uri: string): boolean => uri.startsWith(SKILL_SCHEME);

/** Returns the skills whose toolsets are all enabled. */
export const activeSkills = ({ toolsets }: Pick<Settings, "toolsets">): Skill[] => {
  const enabled = new Set<string>(toolsets);
  return skills.filter((skill) => skill.toolsets.every((name) => enabled.has(name)));
};

/** Renders the files of a server's skills, by name and path, for the tools that it has. */
export const renderSkills = (settings: Settings): Map<string, Record<string, string>> => {
  const has = listChecker({ ...settings, discovery: false });
  const active = activeSkills({ toolsets: offeredToolsets(settings) });
  return new Map(active.map((skill) => [skill.name, renderFiles(skill, has)]));
};

/** Lays out the files of skills by address. */
export const toAddresses = (
  rendered: ReadonlyMap<string, Record<string, string>>,
): Map<string, string> =>
  new Map(
    [...rendered].flatMap(([name, files]) =>
      Object.entries(files).map(([path, text]): [string, string] => [
        `${SKILL_SCHEME}${name}/${path}`,
        text,
      ]),
    ),
  );

/** Lists the skills as resources. */
export const listSkillResources = (settings: Pick<Settings, "toolsets">): Resource[] =>
  activeSkills(settings).map(({ name, title, description }) => ({
    uri: `${SKILL_SCHEME}${name}/SKILL.md`,
    name,
    title,
    description,
    mimeType: SKILL_TYPE,
  }));
