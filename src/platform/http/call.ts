import {
  type Fault,
  Problem,
  type ProblemDetails,
  type SharedCode,
} from "../../contract/errors.ts";
import { sentence } from "../../contract/faults.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Call, Principal } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import { noteIgnored } from "./ignored.ts";
import { entryFor, isLogged, type RequestNeeds, type Story } from "./story.ts";

const checkVersion = (story: Story, record: { id: string; version: number }): void => {
  const etag = `"${record.id}.${record.version}"`;
  const wanted = story.request.headers.get("if-match");
  const isFirst = story.headers["ETag"] === undefined;
  story.headers["ETag"] = etag;
  // The first version told is the one before the change, unless the change made the record.
  if (isFirst && story.status !== 201) checkAbsent(story, etag);
  if (story.operation.effect !== "change" || !isFirst || wanted === null) return;
  const tags = wanted.split(",").map((tag) => tag.trim());
  if (tags.includes("*") || tags.includes(etag)) return;
  throw new Problem(
    "precondition_failed",
    "The record has changed since it was read. Read it again.",
  );
};

/** Refuses a write that is only to make the record, now that there is one. */
const checkAbsent = ({ operation, request }: Story, etag: string): void => {
  const unwanted = operation.upsert ? request.headers.get("if-none-match") : null;
  const tags = unwanted?.split(",").map((tag) => tag.trim()) ?? [];
  if (!tags.includes("*") && !tags.includes(etag)) return;
  throw new Problem("precondition_failed", "The record exists by now. Read it.");
};

const checkUnmatched = (story: Story): void => {
  if (story.request.headers.get("if-match") === null) return;
  throw new Problem("precondition_failed", "There is no such record yet, in any version.");
};

// A body may have more faults than anybody reads.
const MOST_IN_WORDS = 10;

const invalid = ({ service }: Operation, errors: Fault[]): never => {
  const more = errors.length - MOST_IN_WORDS;
  const words = sentence(errors.slice(0, MOST_IN_WORDS));
  throw new Problem(
    service === "ingest" ? "validation_failed" : "invalid_request",
    more > 0 ? `${words} And ${more} more.` : words,
    { errors },
  );
};

/** What a handler is given beside its input, for one request. */
export const callOf = (needs: RequestNeeds, story: Story): Call => {
  const { store, audit, idempotency, newId, view } = needs;
  const { operation } = story;

  const change = async <T>(act: (tx: Db) => Promise<T>): Promise<T> => {
    const result = await store.transaction(async (tx) => {
      const made = await act(tx);
      // Last, because it takes the tenant's head row.
      if (isLogged(story)) await audit.append(tx, entryFor(story, story.status, newId));
      return made;
    }, story.tenantId);
    story.logged = isLogged(story);
    return result;
  };

  return {
    caller: story.caller as Principal,
    tenantId: story.tenantId,
    requestId: story.requestId,
    now: story.now,
    ip: story.ip,
    origin: story.origin,
    signal: story.request.signal,
    baseUrl: () => needs.baseUrlOf(story.request, story.incoming),
    db: store.read,
    snapshot: () => view(story.tenantId),
    change,
    create: (act, shape) =>
      change(async (tx) => {
        const row = await act(tx);
        const output = shape(row);
        const { id, version } = row;
        if (!operation.secret && version !== undefined) checkVersion(story, { id, version });
        if (story.keyed !== undefined) {
          const answer = { output, headers: story.headers };
          await idempotency.remember(tx, story.keyed, row.id, answer);
        }
        return output;
      }),
    fail(code: SharedCode, message: string, details: ProblemDetails = {}) {
      throw new Problem(code, message, details);
    },
    refuse: (field: string, code: Fault["code"], message: string) =>
      invalid(operation, [{ field, code, message }]),
    invalid: (errors) => invalid(operation, errors),
    ignores: (sent, known) => noteIgnored(story, sent, known),
    made() {
      checkUnmatched(story);
      story.status = 201;
    },
    was(value) {
      story.was = value;
    },
    mentions(facts) {
      Object.assign(story.mentioned, facts);
    },
    attribute(tenantId) {
      story.tenantId = tenantId;
    },
    version: (record) => checkVersion(story, record),
  };
};
