import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { checkReplaceable } from "../../kit/replace-file.ts";
import { createResetLink } from "../../platform/admin/passwords.ts";
import { createResetTokens, INVITATION_MS } from "../../platform/reset-tokens.ts";
import { createMasterKeyReader } from "../../config/folder.ts";
import type { Base } from "../compose/platform.ts";
import { readPublicUrl } from "./accounts.ts";
import type { Io } from "./io.ts";

// Links of an earlier import stay, because they may not have been handed out. No symbolic link is followed.
const APPEND =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

/**
 * The file of the links with which imported users set their passwords. Nothing is sent to them: the operator hands the
 * links out.
 */
export const createInvitations = (io: Io, base: Base, tenantId: string, path: string) => {
  checkReplaceable(path);
  let links = 0;
  let publicUrl: string | undefined;
  return {
    /** The path of the file; null if it has no link of this import. */
    path: () => (links === 0 ? null : path),
    async invite(emails: readonly string[]): Promise<void> {
      publicUrl ??= readPublicUrl(io);
      const tokens = createResetTokens(await createMasterKeyReader(io.config)(), base.clock);
      const handle = await open(path, APPEND, 0o600);
      try {
        for (const email of emails) {
          const name = { email, tenantId };
          const made = await createResetLink({ ...base, tokens }, name, publicUrl, INVITATION_MS);
          await handle.appendFile(`${JSON.stringify(made)}\n`);
          links += 1;
        }
      } finally {
        await handle.close();
      }
    },
  };
};
