import {
  type AuthInfo,
  type JSONRPCRequest,
  type McpRequestContext,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  SERVER_INFO_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { HeldRights } from "../broker/held-rights.ts";
import { systemClock } from "../kit/clock.ts";
import { parseIfJson } from "../kit/json.ts";
import { createLazy } from "../kit/lazily.ts";
import type { Log } from "../kit/log.ts";
import { systemWait } from "../kit/wait.ts";
import { type Caller, checkScope, createOwnCaller, findCaller, settingsOf } from "./caller.ts";
import type { Settings } from "../config/settings.ts";
import type { FindHandlers, Handlers } from "./handlers.ts";
import { type RightsSource, serveLists } from "./lists.ts";
import {
  isLongLived,
  serveSubscriptions,
  type SubscriptionContext,
} from "./resources/subscriptions.ts";
import {
  serveSharedSubscriptions,
  type SharedSubscriptions,
} from "./resources/shared-subscriptions.ts";
import { createWatches } from "./resources/watches.ts";
import { guardErrors } from "./results/protocol-errors.ts";
import { sanitizeLine } from "./results/sanitize.ts";
import { createServerInfo, identify, type Identity } from "./server-info.ts";
import { isSkillUri } from "./skills/skill-files.ts";
import { createSkills, type ReadSkill } from "./skills/skills.ts";
import type { ToolContext } from "./tools/tool-context.ts";

/** Options of a server: its lists follow from `settings` and the caller, everything else needs the caller's context. */
export type ServerOptions = {
  settings: Settings;
  version: string;
  log: Log;
  /** Opens the context of a caller, at the caller's first request that needs the platform, and again after it was closed. */
  open: (caller: Caller) => Promise<ToolContext>;
  /** Returns a value that changes when the caller's profile or credentials change; absent if they never do. */
  stampOf?: (caller: Caller) => Promise<string>;
};

/** Builds a server without side effects: one per connection or request, in either protocol era. */
export type BuildServer = (context?: McpRequestContext) => Server | McpServer;

/** Access to callers' handlers, and the watches behind resource subscriptions. */
export type ServerSubscriptions = SubscriptionContext & {
  find: FindHandlers;
  rights: RightsSource;
  /** The subscriptions of sessions that several nodes share. */
  shared?: SharedSubscriptions | undefined;
};

/** Creates the subscriptions, and the handlers of one caller, of a server that only its own host can reach. */
export const createLocalSubscriptions = ({ open, log }: ServerOptions): ServerSubscriptions => {
  const caller = createOwnCaller("default");
  const listeners = new Set<(rights: HeldRights) => void>();
  let opened: Handlers["broker"] | undefined;
  const openHandlers = createLazy(async (): Promise<Handlers> => {
    const [{ createHandlers }, context] = await Promise.all([
      import("./handlers.ts"),
      open(caller),
    ]);
    opened = context.broker;
    const { rights } = context.broker;
    rights?.onChange(() => {
      for (const listener of listeners) listener(rights);
    });
    return createHandlers(context);
  });
  return {
    find: async (_auth, use) => use(await openHandlers(), caller),
    rights: {
      // A list does not open the platform: many hosts request nothing more for hours.
      async find() {
        await opened?.learnRights?.();
        return opened?.rights;
      },
      onChange(_auth, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    watches: createWatches({ now: systemClock, wait: systemWait, log }),
  };
};

/** Makes what a caller sees, once for those with an export key and once for those without. */
const createOnce = <T>(
  options: ServerOptions,
  make: (settings: Settings, authInfo: AuthInfo | undefined) => T,
) => {
  const made = new Map<boolean | undefined, T>();
  return (authInfo: AuthInfo | undefined): T => {
    const caller = findCaller(authInfo);
    const settings = settingsOf(options.settings, caller);
    const one = made.get(caller?.lacksExportKey) ?? make(settings, authInfo);
    made.set(caller?.lacksExportKey, one);
    return one;
  };
};

type HandlerContext = { log: Log; find: FindHandlers };

const serveTools = (server: Server, { log, find }: HandlerContext): void => {
  server.setRequestHandler(
    "tools/call",
    guardErrors(log, "tools/call", ({ params }, context: ServerContext) =>
      find(context, ({ callTool }, caller) => callTool(server, context, caller, params)),
    ),
  );
};

const serveReads = (server: Server, { log, find }: HandlerContext, readSkill: ReadSkill): void => {
  const withReadScope = <T>(
    context: ServerContext,
    use: (handlers: Handlers) => Promise<T>,
  ): Promise<T> =>
    find(context, async (handlers, caller) => {
      checkScope(caller, "read");
      return use(handlers);
    });
  server.setRequestHandler(
    "resources/read",
    guardErrors(log, "resources/read", async ({ params }, context: ServerContext) => {
      const { uri } = params;
      if (isSkillUri(uri)) return readSkill(uri, context);
      return withReadScope(context, ({ readResource }) =>
        readResource(uri, { tool: "resources.read", signal: context.mcpReq.signal }),
      );
    }),
  );
  server.setRequestHandler(
    "prompts/get",
    guardErrors(log, "prompts/get", ({ params }, context: ServerContext) =>
      withReadScope(context, ({ getPrompt, promptSources }) =>
        getPrompt(params.name, params.arguments ?? {}, promptSources(context.mcpReq.signal)),
      ),
    ),
  );
  server.setRequestHandler(
    "completion/complete",
    guardErrors(log, "completion/complete", ({ params }, context: ServerContext) =>
      withReadScope(context, ({ complete }) => complete(params, context.mcpReq.signal)),
    ),
  );
};

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;
type Issue = { path: PropertyKey[]; message: string };

/** Faults that an error names, and their length: they repeat names that the request has. */
const [MOST_FAULTS, FAULT_LENGTH] = [10, 200];

/** Returns the faults that the SDK found in a request's parameters; they are the JSON text of its error. */
const readIssues = (error: unknown): readonly Issue[] | undefined => {
  if (!(error instanceof Error) || !error.message.startsWith("[")) return undefined;
  return parseIfJson(error.message) as Issue[] | undefined;
};

/**
 * Refuses parameters that are not of their method's form with -32602; to the SDK they are an internal error. Each
 * response of 2026 names the server, and only that of `server/discover` has its icons and description too.
 */
class CheckedServer extends Server {
  protected override _outboundServerInfo(): Identity | undefined {
    const info = super._outboundServerInfo();
    return info === undefined ? undefined : identify(info);
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const handle = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        const result = await handle(request, context);
        if (method !== "server/discover") return result;
        return { ...result, _meta: { [SERVER_INFO_META_KEY]: super._outboundServerInfo() } };
      } catch (error) {
        const issues = readIssues(error);
        if (issues === undefined) throw error;
        const faults = issues
          .slice(0, MOST_FAULTS)
          .map(({ path, message }) => sanitizeLine(`${path.join(".")}: ${message}`, FAULT_LENGTH));
        const more = issues.length > MOST_FAULTS ? ` and ${issues.length - MOST_FAULTS} more` : "";
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `${method}: ${faults.join("; ")}${more}`,
        );
      }
    };
  }
}

export const createBuildServer = (
  options: ServerOptions,
  { find, watches, rights, shared }: ServerSubscriptions = createLocalSubscriptions(options),
): ((context?: McpRequestContext) => Server) => {
  const { log } = options;
  const infoOf = createOnce(options, (settings) => createServerInfo({ ...options, settings }));
  const skillsOf = createOnce(options, (settings, authInfo) =>
    createSkills(settings, infoOf(authInfo).hint),
  );
  return (context) => {
    const { info, capabilities, instructions, hint } = infoOf(context?.authInfo);
    const cacheHints = {
      "tools/list": hint,
      "prompts/list": hint,
      "resources/list": hint,
      "resources/templates/list": hint,
      "server/discover": hint,
    };
    // The low-level server: `McpServer` would build the lists from schemas for every request.
    const server = new CheckedServer(info, { capabilities, instructions, cacheHints });
    const followRights = serveLists(server, { infoOf, rights, log });
    serveTools(server, { log, find });
    serveReads(server, { log, find }, skillsOf(context?.authInfo)(server));
    // A server of one request cannot tell its host anything later.
    if (context?.requestInfo === undefined) {
      followRights(context?.authInfo === undefined ? {} : { http: { authInfo: context.authInfo } });
    }
    if (capabilities.resources.subscribe === true && isLongLived(context)) {
      if (shared === undefined) serveSubscriptions(server, { find, watches, log });
      else serveSharedSubscriptions(server, { find, watches, shared, log });
    }
    return server;
  };
};
