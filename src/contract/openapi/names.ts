import { z } from "zod";
import { platformOperations } from "../index.ts";
import type { Operation } from "../operation.ts";
import * as exported from "./exports.ts";

/** Converts `dispute_notes.create` to `DisputeNotesCreate`. */
const toPascalCase = (id: string): string =>
  id.replaceAll(/(?:^|[._])([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

/** Returns the output schema, or the schema of its items. */
const findRecordSchema = ({ output }: Operation): unknown =>
  output instanceof z.ZodArray ? output.element : output;

/** Returns component names of schemas: the export name, or a name from the operation for other bodies and outputs. */
export const collectSchemaNames = (): ReadonlyMap<unknown, string> => {
  const names = new Map<unknown, string>();
  const give = (schema: unknown, name: string): void => {
    if (schema instanceof z.ZodType && !names.has(schema)) names.set(schema, name);
  };
  for (const [name, schema] of Object.entries(exported)) give(schema, name);
  for (const operation of platformOperations) {
    give(operation.body, `${toPascalCase(operation.id)}Body`);
    give(findRecordSchema(operation), `${toPascalCase(operation.id)}Answer`);
  }
  return names;
};
