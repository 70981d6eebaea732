import type { Operation } from "../contract/operation.ts";
import { activeTools, type ListSettings } from "./settings.ts";
import { inputSchema, type ObjectSchema, outputSchema } from "./schemas.ts";

export type Hints = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

export type ListedTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema: ObjectSchema;
  annotations: Hints;
};

const hints = (readOnly: boolean, destructive: boolean, idempotent: boolean): Hints => ({
  readOnlyHint: readOnly,
  destructiveHint: destructive,
  idempotentHint: idempotent,
  openWorldHint: false,
});

const HINTS: Record<Operation["effect"], Hints> = {
  read: hints(true, false, true),
  create: hints(false, false, false),
  change: hints(false, true, true),
  session: hints(false, false, true),
};

const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
};

const build = (settings: ListSettings): readonly ListedTool[] =>
  frozen(
    activeTools(settings).map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: inputSchema(tool),
      outputSchema: outputSchema(tool),
      annotations: HINTS[tool.operation.effect],
    })),
  );

const built = new Map<string, readonly ListedTool[]>();

/** What `tools/list` answers: made once per process from settings alone, in stable order. */
export const toolList = (settings: ListSettings): readonly ListedTool[] => {
  const key = JSON.stringify([settings.toolsets.toSorted(), settings.readOnly]);
  const list = built.get(key) ?? build(settings);
  built.set(key, list);
  return list;
};
