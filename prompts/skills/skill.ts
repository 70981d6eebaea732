import { FOREIGN_TEXT } from "../prompt.ts";
import { type HasTool, numberLines, selectSteps, type Step } from "../steps.ts";

/**
 * A task of the people who work with receivables. Its sentences are those of the prompt for the same task and of the
 * file SKILL.md, which is derived from them.
 */
export type Skill = {
  /** The name of its folder: small letters and hyphens. */
  name: string;
  title: string;
  /** The task and when it applies, for a model that chooses among skills; at most 1,024 characters. */
  description: string;
  /** The meaning of the placeholders in the steps, if there are any. */
  placeholders?: string;
  /** Toolsets that the task requires. */
  toolsets: readonly string[];
  steps: readonly Step[];
  /** The decisions of a person. */
  decides: readonly string[];
  /** The records of the work, and their places. */
  writes: readonly string[];
  never: readonly string[];
  /** A real run on the demo tenant. */
  example: string;
  /** Further files by name, in the folder `references`. */
  references?: Readonly<Record<string, string>>;
};

const listLines = (texts: readonly string[]): string => texts.map((text) => `- ${text}`).join("\n");

/** Renders the steps and rules of a task for a prompt. */
export const renderTask = ({ steps, decides, never }: Skill, has: HasTool): string =>
  `${numberLines(selectSteps(steps, has))}

I decide: ${decides.join("; ")}. Never: ${never.join("; ")}.

${FOREIGN_TEXT}`;

/** Renders the file SKILL.md. */
export const renderSkill = (skill: Skill, has: HasTool): string => {
  const { name, title, description, steps, decides, writes, never, example, references } = skill;
  const files = Object.keys(references ?? {}).map(
    (file) => `\nMore: [${file}](references/${file}).\n`,
  );
  return `---
name: ${name}
description: ${JSON.stringify(description)}
---

# ${title}

${FOREIGN_TEXT}

## Steps
${skill.placeholders === undefined ? "" : `\n${skill.placeholders}\n`}
${numberLines(selectSteps(steps, has))}
${files.join("")}
## A person decides

${listLines(decides)}

## Write down

${listLines(writes)}

## Never

${listLines(never)}

## Example

${example.trim()}
`;
};

/** Returns the files of a skill, by their paths in its folder. */
export const renderFiles = (skill: Skill, has: HasTool): Record<string, string> => ({
  "SKILL.md": renderSkill(skill, has),
  ...Object.fromEntries(
    Object.entries(skill.references ?? {}).map(([file, text]) => [
      `references/${file}`,
      `${text.trim()}\n`,
    ]),
  ),
});
