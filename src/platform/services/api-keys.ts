import { Problem } from "../../contract/errors.ts";
import type { Contract } from "../../contract/index.ts";
import type { NewId } from "../../kit/ids.ts";
import { insertApiKey, type Lifetimes } from "../credentials.ts";
import type { Handlers } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import { countApiKeys, removeApiKey } from "../store/queries/api-keys.ts";
import { updateSession } from "../store/queries/sessions.ts";

const MAX_LIVE_KEYS = 10;

/** Holds the session's row, so that a new password, which ends the session, also removes a key created with it. */
const holdSession = async (tx: Db, id: string, now: number): Promise<void> => {
  if (await updateSession(tx, id, { used_at: now })) return;
  throw new Problem("unauthenticated", "The session has ended.");
};

type Needs = { newId: NewId; lifetimes: Lifetimes };

export const api_keys = ({ newId, lifetimes }: Needs): Handlers<Contract["api_keys"]> => ({
  async create(_input, call) {
    const { caller } = call;
    if (caller.via !== "session") {
      call.fail("forbidden_permission", "An API key cannot create keys. Log in for that.");
    }
    return call.change(async (tx) => {
      await holdSession(tx, caller.credentialId, call.now);
      const live = await countApiKeys(tx, caller.id, call.now - lifetimes.keyInactivity);
      if (live >= MAX_LIVE_KEYS) {
        call.fail("conflict", `A user may have ${MAX_LIVE_KEYS} API keys. Delete one first.`);
      }
      const owner = { tenantId: call.tenantId, userId: caller.id };
      const { keyId, apiKey } = await insertApiKey(tx, { newId, clock: () => call.now }, owner);
      return {
        body: { keyId, apiKey, createDateInMillis: call.now, expiresAtInMills: 0 },
        createdId: keyId,
      };
    });
  },

  async delete({ params }, call) {
    const { via, credentialId } = call.caller;
    // A key may delete itself, as a session may log out, so that revoking it needs no password.
    if (via !== "session" && credentialId !== params.keyId) {
      call.fail("forbidden_permission", "An API key cannot delete other keys. Log in for that.");
    }
    return call.change(async (tx) => {
      const key = { id: params.keyId, user_id: call.caller.id, tenant_id: call.tenantId };
      if (!(await removeApiKey(tx, key))) call.fail("not_found", "You have no such API key.");
      return { body: null };
    });
  },
});
