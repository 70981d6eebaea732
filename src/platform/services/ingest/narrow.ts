import { z } from "zod";
import { isObject } from "./body.ts";

// A client that sends ever other fields is served by the whole schema, not by ever more of these.
const MOST_KEPT = 64;

/**
 * An object's schema cut down to the fields that a value bears and those that it must. What it says is the same,
 * without asking each of the others whether it is absent; so those must be optional and without default.
 */
export const narrowing = <S extends z.ZodObject>(schema: S): ((value: unknown) => S) => {
  const all = new Set(Object.keys(schema.shape));
  const required = new Set(
    [...all].filter((name) => !(schema.shape[name] instanceof z.ZodOptional)),
  );
  const known = new Map<string, S>();
  return (value) => {
    if (!isObject(value)) return schema;
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
