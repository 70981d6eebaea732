import type { IncomingMessage } from "node:http";
import { Problem } from "../../contract/errors.ts";
import type { Operation, Service } from "../../contract/operation.ts";
import type { Call, Principal } from "../handlers.ts";
import { answer, discard, isPage, keptAnswer, listingOf } from "./answer.ts";
import { authorize } from "./authenticate.ts";
import { callOf } from "./call.ts";
import { AlreadyDone, type Keyed, keyOf, type Remembered } from "./idempotency.ts";
import { commonHeaders } from "./headers.ts";
import { noteIgnored } from "./ignored.ts";
import { openBody, parseInputBody, parseTarget, readBody } from "./input.ts";
import { problemResponse, toProblem } from "./problem.ts";
import {
  beginStory,
  entryFor,
  isLogged,
  platformHeader,
  type RequestNeeds,
  type Story,
} from "./story.ts";
import { throttled } from "./throttle.ts";

type Handler = (input: unknown, call: Call) => Promise<unknown>;

const NOTHING: Principal["may"] = new Set();

const rowsOf = (output: unknown): number | undefined => {
  if (Array.isArray(output)) return output.length;
  if (isPage(output)) return output.rowCount;
  const listing = listingOf(output);
  if (listing !== undefined) return listing.page === undefined ? listing.total : undefined;
  if (typeof output !== "object" || output === null || !("data" in output)) return undefined;
  return Array.isArray(output.data) ? output.data.length : undefined;
};

type KeyedService = Exclude<Service, "gateway">;
type KeyHolder = Principal & { tenantId: string };

const keyIn = ({ request }: Story): string | undefined =>
  request.headers.get("x-api-key") ?? undefined;

const unlessRefused = (error: unknown): undefined => {
  if (!(error instanceof Problem) || error.status !== 401) throw error;
};

/** Serves operations: each step is one act, each refusal a Problem. */
export const createRequests = (needs: RequestNeeds) => {
  const { store, log, audit, authenticate, idempotency, limiter, newId } = needs;

  const admitKeyed = async (
    story: Story,
    service: KeyedService,
    caller: KeyHolder,
  ): Promise<void> => {
    story.caller = caller;
    story.tenantId = caller.tenantId;
    story.limitHeaders = await limiter.keyed(service, caller.tenantId, story.now);
  };

  const identifyKeyed = async (story: Story, service: KeyedService): Promise<void> =>
    admitKeyed(story, service, await authenticate.exportKey(keyIn(story)));

  /** Nobody needs a key for what is public; whoever sends a good one is counted and logged as its tenant. */
  const identifyVisitor = async (story: Story): Promise<void> => {
    const { service } = story.operation;
    if (service === "gateway") return;
    const caller = await authenticate.exportKey(keyIn(story)).catch(unlessRefused);
    if (caller !== undefined) return admitKeyed(story, service, caller);
    story.limitHeaders = await limiter.visitor(story.ip, story.now);
  };

  const identifyGateway = async (story: Story): Promise<void> => {
    const { request, now } = story;
    const person = await authenticate.gateway({
      token: platformHeader(needs, request, "auth"),
      key: platformHeader(needs, request, "api-key"),
      now,
    });
    // Until it is let into the path's tenant, a request belongs to its sender's own log.
    story.tenantId = person.homeTenantId;
    story.caller = { ...person, may: NOTHING };
    story.limitHeaders = await limiter.gateway(person.credentialId, now);
    const wanted = story.params["tenantId"];
    if (wanted === undefined) return;
    story.caller = await person.enter(wanted);
    story.tenantId = wanted;
  };

  const identify = async (story: Story): Promise<void> => {
    const { operation } = story;
    if (operation.id === "auth.login") {
      story.limitHeaders = await limiter.login(story.ip, story.now);
    }
    if (operation.access === "public") return identifyVisitor(story);
    const { service } = operation;
    await (service === "gateway" ? identifyGateway(story) : identifyKeyed(story, service));
    if (story.caller !== null) authorize(operation, story.caller);
  };

  const tell = async (story: Story, status: number, rowCount?: number): Promise<void> => {
    if (story.logged || !isLogged(story)) return;
    story.logged = true;
    await audit.record(entryFor(story, status, newId, rowCount));
  };

  const respond = async (story: Story, output: unknown): Promise<Response> => {
    const { status, operation } = story;
    const headers = {
      ...commonHeaders(story.requestId),
      ...story.headers,
      ...story.limitHeaders,
    };
    const { cacheSeconds } = operation;
    if (cacheSeconds > 0) {
      const kept = keptAnswer(story.request, cacheSeconds, output, headers);
      await tell(story, kept.status, rowsOf(output));
      return kept;
    }
    await tell(story, status, rowsOf(output)).catch(async (error: unknown) => {
      await discard(output);
      throw error;
    });
    return answer(story.request, status, output, story.url, headers);
  };

  const replay = (story: Story, { output, headers }: Remembered): Promise<Response> => {
    story.headers = { ...headers, "Idempotency-Replayed": "true" };
    return respond(story, output);
  };

  const once = async (
    story: Story,
    keyed: Keyed,
    act: () => Promise<unknown>,
  ): Promise<Response> => {
    const known = await idempotency.recall(store.read, keyed);
    if (known !== undefined) return replay(story, known);
    try {
      return await respond(story, await idempotency.once(keyed, act));
    } catch (error) {
      if (!(error instanceof AlreadyDone)) throw error;
      const made = await idempotency.recall(store.read, keyed);
      if (made === undefined) throw error;
      return replay(story, made);
    }
  };

  const perform = async (
    story: Story,
    handler: Handler,
    incoming: IncomingMessage | undefined,
  ): Promise<Response> => {
    const { operation, request, params } = story;
    await identify(story);
    story.body = await readBody(operation, request, incoming);
    const target = parseTarget(operation, params, story.url.searchParams);
    const body =
      operation.raw === null
        ? parseInputBody(operation, story.body)
        : openBody(operation.raw, request);
    if (!operation.late && operation.raw === null) noteIgnored(story, story.body, body);
    if (operation.raw === null) story.body = body;
    story.keyed = keyOf(operation, request.headers.get("idempotency-key"), {
      tenantId: story.tenantId,
      principal: story.caller?.id ?? "",
      params,
      body,
      now: story.now,
    });
    const act = () => handler({ ...target, body }, callOf(needs, story));
    return story.keyed === undefined ? respond(story, await act()) : once(story, story.keyed, act);
  };

  /** A refusal stands once its audit entry does; where that cannot be written, the reason is the answer. */
  const told = async (story: Story, problem: Problem): Promise<Problem> => {
    if (problem.status === 401) return problem;
    try {
      await tell(story, problem.status);
      return problem;
    } catch (failure) {
      return problem.code === "unavailable" ? problem : toProblem(failure, log, story.requestId);
    }
  };

  const refused = async (story: Story, error: unknown): Promise<Response> => {
    const found = await throttled(needs, story, toProblem(error, log, story.requestId));
    const problem = await told(story, found);
    const response = problemResponse(problem, story.operation.service, {
      requestId: story.requestId,
      path: story.url.pathname,
    });
    // What is left of the file is not read, so nothing else can come over that connection.
    if (story.operation.raw !== null) response.headers.set("Connection", "close");
    for (const [name, value] of Object.entries(story.limitHeaders)) {
      response.headers.set(name, value);
    }
    return response;
  };

  return {
    /** The way of every request to one operation. */
    serve:
      (operation: Operation, handler: Handler) =>
      async (
        request: Request,
        params: Record<string, string>,
        incoming: IncomingMessage | undefined,
      ): Promise<Response> => {
        const story = beginStory(needs, operation, request, params, incoming);
        try {
          return await perform(story, handler, incoming);
        } catch (error) {
          return refused(story, error);
        }
      },
  };
};
