import { Problem } from "../../contract/errors.ts";

/** Checks that the name of what is deleted was given a second time. @throws {Problem} invalid_request */
export const checkConfirmed = (names: readonly string[], confirm: string | undefined): void => {
  if (confirm !== undefined && names.includes(confirm.trim())) return;
  const name = names[0] ?? "";
  throw new Problem(
    "invalid_request",
    confirm === undefined
      ? `This deletes ${name} and cannot be undone. To do it, add: --confirm "${name}"`
      : `--confirm does not repeat the name: it must be "${name}". Nothing was deleted.`,
  );
};
