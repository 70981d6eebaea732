import { platformOperations } from "./index.ts";
import type { Operation } from "./operation.ts";

const NAME = /^\/\{\w+\}$/;

/** Whether an operation reads the record that another one creates: at the same path, or at the record's own below it. */
const isReaderOf = ({ path }: Operation, { effect, path: read, list }: Operation): boolean =>
  effect === "read" &&
  list === null &&
  (read === path || (read.startsWith(path) && NAME.test(read.slice(path.length))));

/** Returns the path of the GET of the record that an operation creates; undefined where there is none. */
export const findRecordPath = (operation: Operation): string | undefined =>
  operation.effect === "create" || operation.upsert
    ? platformOperations.find((other) => isReaderOf(operation, other))?.path
    : undefined;
