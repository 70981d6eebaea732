import { z } from "zod";
import type { Operation, OutputOf } from "../contract/operation.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { isRecord } from "../kit/json.ts";

type Path = readonly PropertyKey[];
type Part = { schema: z.ZodType; value: unknown; path: Path };

/** Lists without checks of their own; their items can be checked one by one. */
const isPlainList = (schema: unknown): schema is z.ZodArray<z.ZodType> =>
  schema instanceof z.ZodArray && (schema.def.checks ?? []).length === 0;

function* listItems(schema: z.ZodArray<z.ZodType>, items: unknown[], path: Path): Generator<Part> {
  for (const [place, value] of items.entries()) {
    yield { schema: schema.element, value, path: [...path, place] };
  }
}

/** Lists the items of an output's lists, and what is left without them. */
function* listParts(schema: z.ZodType, value: unknown): Generator<Part> {
  if (isPlainList(schema) && Array.isArray(value)) return yield* listItems(schema, value, []);
  if (!(schema instanceof z.ZodObject) || !isRecord(value)) {
    return yield { schema, value, path: [] };
  }
  const rest = { ...value };
  for (const [name, field] of Object.entries(schema.shape)) {
    const items = value[name];
    if (!isPlainList(field) || !Array.isArray(items)) continue;
    rest[name] = [];
    yield* listItems(field, items, [name]);
  }
  return yield { schema, value: rest, path: [] };
}

/** Items that are checked in one turn of the event loop: some milliseconds for the largest records. */
export const CHECKED_PER_TURN = 200;

/** Where a value is not as the operation answers: at the root for one that has no output. */
type Fault = { path: Path };

const findFault = async ({ output }: Operation, value: unknown): Promise<Fault | undefined> => {
  if (output === null) return value === null ? undefined : { path: [] };
  let fault: Fault | undefined;
  await forEachInTurns(
    listParts(output, value),
    (part) => {
      if (fault !== undefined) return;
      const [issue] = part.schema.safeParse(part.value).error?.issues ?? [];
      if (issue !== undefined) fault = { path: [...part.path, ...issue.path] };
    },
    CHECKED_PER_TURN,
  );
  return fault;
};

const isOutput = <O extends Operation>(
  _operation: O,
  value: unknown,
  fault: Fault | undefined,
): value is OutputOf<O> => fault === undefined;

/**
 * Returns a value that is what the operation answers, checked with turns of the event loop in between. `refuse` gets
 * the path of the first fault.
 */
export const checkOutput = async <O extends Operation>(
  operation: O,
  value: unknown,
  refuse: (path: Path) => never,
): Promise<OutputOf<O>> => {
  const fault = await findFault(operation, value);
  return isOutput(operation, value, fault) ? value : refuse(fault?.path ?? []);
};
