import { openDemoData } from "../../src/platform/demo/data.ts";
import { readDemo } from "../../src/platform/demo/load.ts";

type User = { id: string; email: string };

/** Returns the demo tenant's rows as of `now`, by the nouns of the interface. */
export const demoAt = async (now: number) => {
  const data = openDemoData(now);
  const { tables, ...others } = await readDemo(data);
  return {
    ...tables,
    ...others,
    users: new Map(data.records<User>("users").map(({ email, id }) => [email, id])),
  };
};

export type DemoRows = Awaited<ReturnType<typeof demoAt>>;

/** Sunday noon, and the same time on each day of the week before. */
export const ANY_WEEKDAY: readonly number[] = [22, 21, 20, 19, 18, 17, 16].map((day) =>
  Date.parse(`2026-11-${day}T12:00:00Z`),
);
