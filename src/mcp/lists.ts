import type {
  AuthInfo,
  ListToolsResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { HeldRights } from "../broker/held-rights.ts";
import { toErrorFields, type Log } from "../kit/log.ts";
import { CONFIRM_TOOL } from "../views/views.ts";
import { capabilitiesOf, findCaller, type RequestAuth, SCOPES } from "./caller.ts";
import { guardErrors } from "./results/protocol-errors.ts";
import type { Lists, ServerInfo } from "./server-info.ts";
import { createIsUsable } from "./tools/listing/tool-list.ts";

/** Finds what is known of the rights of callers. */
export type RightsSource = {
  /** Returns what is known of the rights of the caller of a request; undefined if nothing is. */
  find(auth: RequestAuth): Promise<HeldRights | undefined>;
  /** Calls back when the rights of the caller have changed. Call the result to stop. */
  onChange(auth: RequestAuth, listener: (rights: HeldRights) => void): () => void;
};

type ListNeeds = {
  infoOf: (authInfo: AuthInfo | undefined) => ServerInfo;
  rights: RightsSource;
  log: Log;
};

const scopesOf = (authInfo: AuthInfo | undefined) => findCaller(authInfo)?.scopes ?? SCOPES;

/** Returns the names of tools; views add one for themselves. */
const toNames = (tools: readonly { name: string }[]): string =>
  tools
    .map(({ name }) => name)
    .filter((name) => name !== CONFIRM_TOOL)
    .join();

/** Returns the rights of a caller; undefined if their credentials cannot be read now, which the first call reports. */
const findRights = async (
  { rights, log }: ListNeeds,
  http: RequestAuth["http"],
): Promise<HeldRights | undefined> => {
  try {
    return await rights.find({ http });
  } catch (error) {
    log.info("mcp.rights_unknown", toErrorFields(error));
    return undefined;
  }
};

const notifyHost = async (server: Server, log: Log): Promise<void> => {
  try {
    await server.sendToolListChanged();
    await server.sendResourceListChanged();
    await server.sendPromptListChanged();
  } catch (error) {
    log.debug("mcp.not_notified", toErrorFields(error));
  }
};

/** Serves the lists that need no memory of their last answer. */
const serveOtherLists = (
  server: Server,
  log: Log,
  listsOf: (context: ServerContext) => Promise<Lists>,
): void => {
  const guard = <R>(method: string, pick: (lists: Lists) => R) =>
    guardErrors(log, method, async (_request: unknown, context: ServerContext) =>
      pick(await listsOf(context)),
    );
  server.setRequestHandler(
    "resources/list",
    guard("resources/list", ({ resources }) => ({ resources: [...resources] })),
  );
  server.setRequestHandler(
    "resources/templates/list",
    guard("resources/templates/list", ({ resourceTemplates }) => ({
      resourceTemplates: [...resourceTemplates],
    })),
  );
  server.setRequestHandler(
    "prompts/list",
    guard("prompts/list", ({ prompts }) => ({ prompts: [...prompts] })),
  );
};

/**
 * Serves the lists: what the settings enable and the caller may use, as far as is known. Returns a function that tells
 * the host about changes of the caller's rights as long as the server lives.
 */
export const serveLists = (server: Server, needs: ListNeeds): ((auth: RequestAuth) => void) => {
  const { infoOf, rights, log } = needs;
  let answering = 0;
  /** The names of the tools at the host's last request. */
  let listed: string | undefined;

  const listsOf = async (context: ServerContext): Promise<Lists> => {
    const authInfo = context.http?.authInfo;
    const held = await findRights(needs, { authInfo });
    const isUsable = createIsUsable({ scopes: scopesOf(authInfo), rights: held });
    return infoOf(authInfo).listsFor(capabilitiesOf(server, context), isUsable);
  };
  const listTools = async (_request: unknown, context: ServerContext) => {
    // A change that is learned for the answer is in it.
    answering += 1;
    try {
      const { tools } = await listsOf(context);
      listed = toNames(tools);
      return { tools: [...tools] as ListToolsResult["tools"] };
    } finally {
      answering -= 1;
    }
  };
  server.setRequestHandler("tools/list", guardErrors(log, "tools/list", listTools));
  serveOtherLists(server, log, listsOf);

  return ({ http }) => {
    const { listsFor } = infoOf(http?.authInfo);
    const scopes = scopesOf(http?.authInfo);
    const all = toNames(listsFor({}).tools);
    const stop = rights.onChange({ http }, (held) => {
      const names = toNames(listsFor({}, createIsUsable({ scopes, rights: held })).tools);
      if (answering > 0 || names === (listed ?? all)) return;
      listed = names;
      void notifyHost(server, log);
    });
    const onClose = server.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has no other
    server.onclose = () => {
      onClose?.();
      stop();
    };
  };
};
