import { z } from "zod";
import { hashId, type Storage, type StoredRecord } from "./port.ts";
import type { Changes } from "../kit/changes.ts";
import { type Clock, MINUTE, SECOND } from "../kit/clock.ts";
import { createSeal } from "../kit/seal.ts";
import type { SharedSessions } from "../mcp/http/shared-sessions.ts";

const KIND = { session: "McpSession", subscription: "McpSubscription", request: "McpRequest" };

/** The purpose for which records of sessions are sealed. */
export const SESSIONS_PURPOSE = "mcp/sessions";

/** Of all nodes; beyond it the caller with the most sessions loses the one that was idle the longest. */
const MAX_SESSIONS = 10_000;
const IDLE_MS = 30 * MINUTE;
/** A session in use is extended when it has less left than this. */
const EXTEND_BELOW_MS = 25 * MINUTE;
/** Longer than the server waits for a person's answer. */
const RESPONSE_MS = 11 * MINUTE;

/** Longer ids of requests are not announced: a cancellation may be ignored. */
const MAX_REQUEST_ID = 200;

// Intervals at which a node looks for itself where announcements do not arrive.
const RESPONSE_POLL_MS = SECOND / 2;
const SESSION_POLL_MS = 5 * SECOND;

const Session = z.object({
  caller: z.string(),
  client: z.string(),
  initialize: z.record(z.string(), z.unknown()),
});
const Subscription = z.object({ uri: z.string(), ended: z.array(z.string()) });
/** Null until the host has responded. */
const Response = z.object({ response: z.unknown() }).nullable();

const sessionKey = (session: string): string => `mcp-session ${session}`;
const cancelsKey = (session: string): string => `mcp-cancel ${session}`;
const responseKey = (id: string): string => `mcp-response ${id}`;

type Needs = { storage: Storage; changes: Changes; key: Buffer; now: Clock };

/** Reads and writes sealed records. Session ids are hashed, so a copy of the database opens no session. */
const createRecords = ({ storage, key, now }: Needs) => {
  const seal = createSeal(key, SESSIONS_PURPOSE);
  const open = <T>(schema: z.ZodType<T>, record: StoredRecord | undefined): T | undefined =>
    record && schema.safeParse(seal.open(record.payload)).data;
  return {
    open,
    find: async <T>(schema: z.ZodType<T>, kind: string, id: string, owner?: string) => {
      const record = await storage.find(kind, id);
      return owner === undefined || record?.grant_id === owner ? open(schema, record) : undefined;
    },
    put: (
      kind: string,
      { id, session, owner = session }: { id: string; session: string; owner?: string },
      content: unknown,
      lifeMs: number,
    ) =>
      storage.upsert({
        kind,
        id,
        grant_id: session,
        owner,
        payload: seal.seal(content),
        consumed_at: null,
        expires_at: now() + lifeMs,
      }),
    list: async <T>(schema: z.ZodType<T>, kind: string, session: string): Promise<T[]> => {
      const records = await storage.listByOwner(kind, session);
      return records.flatMap((record) => open(schema, record) ?? []);
    },
  };
};

/** The messages between the nodes of a session: responses of the host, and requests that it canceled. */
const createMessages = (
  { storage, changes }: Needs,
  { find, put }: ReturnType<typeof createRecords>,
): Pick<SharedSessions, "expectResponse" | "passResponse" | "passCancel" | "watchCancels"> => ({
  async expectResponse(session, id, receive) {
    const [owner, name] = [hashId(session), hashId(id)];
    await put(KIND.request, { id: name, session: owner }, null, RESPONSE_MS);
    const look = async (): Promise<void> => {
      const found = await find(Response, KIND.request, name, owner);
      if (found !== undefined && found !== null) receive(found.response);
    };
    const unwatch = changes.watch(
      responseKey(name),
      () => void look().catch(() => {}),
      RESPONSE_POLL_MS,
    );
    return () => {
      unwatch();
      void storage.remove(KIND.request, name).catch(() => {});
    };
  },
  async passResponse(session, id, response) {
    const [owner, name] = [hashId(session), hashId(id)];
    if ((await find(Response, KIND.request, name, owner)) !== null) return;
    await put(KIND.request, { id: name, session: owner }, { response }, RESPONSE_MS);
    await changes.announce(responseKey(name));
  },
  async passCancel(session, requestId) {
    if (requestId.length > MAX_REQUEST_ID) return;
    await changes.announce(cancelsKey(hashId(session)), requestId);
  },
  watchCancels: (session, cancel) =>
    changes.watch(
      cancelsKey(hashId(session)),
      (requestId) => {
        if (requestId !== undefined) cancel(requestId);
      },
      MINUTE,
    ),
});

/** Creates the sessions that nodes share in the database. */
export const createSharedSessions = (needs: Needs): SharedSessions => {
  const { storage, changes, now } = needs;
  const records = createRecords(needs);
  const { open, put, list } = records;
  return {
    ...createMessages(needs, records),
    async add(session, record) {
      const id = hashId(session);
      await storage.purge();
      await storage.makeRoom(KIND.session, MAX_SESSIONS);
      await put(KIND.session, { id, session: id, owner: record.caller }, record, IDLE_MS);
    },
    async find(session) {
      const id = hashId(session);
      const record = await storage.find(KIND.session, id);
      if (record !== undefined && record.expires_at < now() + EXTEND_BELOW_MS) {
        await storage.extendGrant(id, now() + IDLE_MS);
      }
      return open(Session, record);
    },
    async end(session) {
      const id = hashId(session);
      await Promise.all(Object.values(KIND).map((kind) => storage.removeByGrant(kind, id)));
      await changes.announce(sessionKey(id));
    },
    async subscribe(session, uri, ended) {
      const id = hashId(session);
      const name = hashId(`${id} ${uri}`);
      await put(KIND.subscription, { id: name, session: id }, { uri, ended }, IDLE_MS);
      await changes.announce(sessionKey(id));
    },
    async unsubscribe(session, uri) {
      const id = hashId(session);
      await storage.remove(KIND.subscription, hashId(`${id} ${uri}`));
      await changes.announce(sessionKey(id));
    },
    listSubscriptions: (session) => list(Subscription, KIND.subscription, hashId(session)),
    watchSession: (session, act) =>
      changes.watch(sessionKey(hashId(session)), act, SESSION_POLL_MS),
  };
};
