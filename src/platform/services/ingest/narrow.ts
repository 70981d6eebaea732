import { z } from "zod";
import { isRecord } from "../../../kit/json.ts";

// Bounds the cache: further combinations of fields use the whole schema.
const MOST_KEPT = 64;

/**
 * Creates a function that narrows an object schema to the fields of a value and the required ones. The result of
 * parsing is the same and faster. The other fields must be optional and have no default.
 */
export const createNarrowing = <S extends z.ZodObject>(schema: S): ((value: unknown) => S) => {
  const all = new Set(Object.keys(schema.shape));
  const required = new Set(
    [...all].filter((name) => !(schema.shape[name] instanceof z.ZodOptional)),
  );
  const known = new Map<string, S>();
  return (value) => {
    if (!isRecord(value)) return schema;
    const sent = Object.keys(value).filter((name) => all.has(name));
    const key = sent.join("\0");
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= MOST_KEPT) return schema;
    const names = new Set(sent);
    const chosen = [...all].filter((name) => names.has(name) || required.has(name));
    const mask = Object.fromEntries(chosen.map((name) => [name, true as const]));
    const made = schema.pick(mask as never) as unknown as S;
    known.set(key, made);
    return made;
  };
};
