import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prompts } from "../prompts/index.ts";
import { skills } from "../prompts/skills/index.ts";
import { renderFiles } from "../prompts/skills/skill.ts";
import { selectSteps } from "../prompts/steps.ts";
import { isRecord } from "../src/kit/json.ts";
import { listChecker, toolList } from "../src/mcp/tools/listing/tool-list.ts";
import { ALL } from "./mcp/hosts.ts";
import { o200kTokens } from "./support/o200k.ts";
import { verifies } from "./support/verifies.ts";

const MOST_TOKENS = 1500;
const ROOT = join(import.meta.dirname, "..");

type Schema = { properties?: Record<string, Schema>; items?: Schema };

const schemas = new Map(
  toolList(ALL).map(({ name, inputSchema }) => [name, inputSchema as unknown as Schema]),
);
const has = listChecker(ALL);

/** Words with an underscore that are no names of tools. */
const FIELDS = new Set(["on_account"]);

const TOOL_NAME = /\b[a-z]+(?:_[a-z0-9]+)+\b/g;
const CALL = /\b([a-z]+(?:_[a-z0-9]+)+) (?=\{)/g;

/** Returns the JSON object at the beginning of a text. */
const parseStart = (text: string): unknown => {
  for (let end = text.indexOf("}"); end >= 0; end = text.indexOf("}", end + 1)) {
    try {
      return JSON.parse(text.slice(0, end + 1));
    } catch {
      // The object goes on.
    }
  }
  return undefined;
};

/** The calls that a text shows, as `tool {"argument": …}`. */
const listCalls = (text: string): { tool: string; args: unknown }[] =>
  [...text.matchAll(CALL)].map((match) => ({
    tool: match[1] ?? "",
    args: parseStart(text.slice(match.index + match[0].length)),
  }));

/** Returns the names in a value that a schema does not have. */
const findUnknown = (value: unknown, schema: Schema, place: string): string[] => {
  if (Array.isArray(value)) {
    return schema.items === undefined
      ? []
      : value.flatMap((item) => findUnknown(item, schema.items ?? {}, place));
  }
  const { properties } = schema;
  if (!isRecord(value) || properties === undefined || Object.keys(properties).length === 0)
    return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const own = properties[name];
    // Filters have the fields of a source, which a schema shows only some of.
    if (place.endsWith(".filters")) return [];
    return own === undefined ? [`${place}.${name}`] : findUnknown(item, own, `${place}.${name}`);
  });
};

const texts = [
  ...skills.map((skill) => [skill.name, renderFiles(skill, has)["SKILL.md"] ?? ""] as const),
  ...prompts.map((prompt) => [prompt.name, prompt.text({}, has)] as const),
];

describe("skills and prompts", () => {
  verifies("RC-01", "WK-95");
  it.each(texts)("%s names tools and arguments that exist", (_name, text) => {
    const named = [...new Set(text.match(TOOL_NAME))].filter((name) => !FIELDS.has(name));
    const fields = new Set(
      toolList(ALL).flatMap(({ outputSchema, inputSchema }) => [
        ...Object.keys((inputSchema as Schema).properties ?? {}),
        ...Object.keys((outputSchema as Schema | undefined)?.properties ?? {}),
      ]),
    );
    expect(named.filter((name) => !schemas.has(name) && !fields.has(name))).toEqual([]);
    const unknown = listCalls(text).flatMap(({ tool, args }) => {
      if (args === undefined) return [`${tool} has no JSON arguments`];
      return findUnknown(args, schemas.get(tool) ?? {}, tool);
    });
    expect(unknown).toEqual([]);
  });

  it("finds a tool and an argument that do not exist", () => {
    const [call] = listCalls('Use disputes_triage {"limit": 3, "colour": {"a": "}"}} first.');
    expect(findUnknown(call?.args, schemas.get("disputes_triage") ?? {}, "t")).toEqual([
      "t.colour",
    ]);
    const [claims] = listCalls('match_claims {"lines": [{"reference": "1", "weight": 2}]}');
    expect(findUnknown(claims?.args, schemas.get("match_claims") ?? {}, "t")).toEqual([
      "t.lines.weight",
    ]);
  });
});

describe("skills", () => {
  verifies("RC-01");
  it.each(skills.map((skill) => [skill.name, skill] as const))(
    "%s is a file of at most 1,500 tokens, and is what the file has",
    (name, skill) => {
      const files = renderFiles(skill, has);
      for (const [path, text] of Object.entries(files)) {
        expect(readFileSync(join(ROOT, "skills", name, path), "utf8")).toBe(text);
        expect(o200kTokens(text)).toBeLessThanOrEqual(MOST_TOKENS);
      }
      expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(skill.description.length).toBeLessThanOrEqual(1024);
    },
  );

  const PROMPTS: Record<string, string> = {
    "dispute-triage": "triage-disputes",
    "work-a-dispute": "work-dispute",
    "short-pay-investigation": "investigate-short-pay",
    "claim-intake": "intake",
    "month-close": "month-close",
    "credit-review": "review-credit-application",
  };

  verifies("RC-01");
  it("are those of the six tasks, each of which says when, how, who decides and what never", () => {
    expect(skills.map(({ name }) => name).toSorted()).toEqual(Object.keys(PROMPTS).toSorted());
    expect(readdirSync(join(ROOT, "skills")).toSorted()).toEqual(Object.keys(PROMPTS).toSorted());
    for (const skill of skills) {
      expect(skill.description).toMatch(/ Use it (?:for|when) /);
      const sections = (renderFiles(skill, has)["SKILL.md"] ?? "").split("\n## ").slice(1);
      const parts = sections.map((section) => section.slice(0, section.indexOf("\n")));
      expect(parts).toEqual(["Steps", "A person decides", "Write down", "Never", "Example"]);
      // Steps are numbered; each of the others has something to say.
      const [steps = "", ...rules] = sections;
      expect(steps.match(/^\d+\. /gm)?.length, skill.name).toBeGreaterThanOrEqual(3);
      for (const rule of rules.slice(0, -1)) expect(rule).toMatch(/^- \S/m);
    }
  });

  it.each(skills.map((skill) => [skill.name, skill] as const))(
    "%s has the sentences of its prompt",
    (name, skill) => {
      const prompt = prompts.find((one) => one.name === PROMPTS[name]);
      const text = prompt?.text({ accountNumber: "ACCOUNT" }, has) ?? "";
      for (const sentence of [...selectSteps(skill.steps, has), ...skill.decides, ...skill.never]) {
        expect(text).toContain(sentence);
      }
    },
  );

  it("leaves out steps whose tools a server does not have", () => {
    const steps = ["always", { needs: ["a", "b"], text: "both" }, { unless: "a", text: "without" }];
    expect(selectSteps(steps, () => true)).toEqual(["always", "both"]);
    expect(selectSteps(steps, (name) => name === "a")).toEqual(["always"]);
    expect(selectSteps(steps, () => false)).toEqual(["always", "without"]);
  });
});
