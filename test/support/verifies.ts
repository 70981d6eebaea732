import { requirements } from "../requirements.ts";

/** A line of the acceptance list, an item of the security checklist, or a decision. */
export type RequirementId = `${string}-${number}` | `WK-${number}a` | `D-${string}`;

const known = new Set(requirements.map(({ id }) => id));

/** Ids that are cited without standing in the list: decisions, and the checklist's first items. */
const UNLISTED = /^(?:D-[A-Z]+(?:-\d+)?|C-\d{2})$/;

/**
 * Records that the test or the group of tests below it holds these requirements. `test/requirements.test.ts` reads the
 * calls and refuses a requirement that no test cites.
 *
 * @throws {Error} for an id that is not a requirement
 */
export const verifies = (...ids: readonly RequirementId[]): void => {
  const unknown = ids.filter((id) => !known.has(id) && !UNLISTED.test(id));
  if (unknown.length > 0) throw new Error(`No requirement has the id ${unknown.join(", ")}.`);
};
