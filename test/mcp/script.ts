import type { Broker } from "../../src/broker/port.ts";
import type { CallOptions, Reply } from "../../src/client/port.ts";
import type { CallArguments, Operation } from "../../src/contract/operation.ts";

export type Seen = { id: string; args: CallArguments; options: CallOptions };

/** Returns the platform's response to one operation, or throws its refusal. */
export type ScriptedReply = (args: CallArguments, options: CallOptions) => unknown;

const toReply = (output: unknown): Reply => ({
  status: 200,
  output,
  etag: null,
  requestId: "request-1",
  total: null,
  ignoredFields: [],
});

/** Returns a scripted reply with more than an output, such as an ETag. */
export const createReply = (output: unknown, more: Partial<Reply>): (() => Reply) => {
  const whole = { ...toReply(output), ...more };
  return () => Object.assign(whole, { [WHOLE]: true });
};

const WHOLE = Symbol("a whole reply");

const readReply = (value: unknown): Reply =>
  typeof value === "object" && value !== null && WHOLE in value
    ? (value as unknown as Reply)
    : toReply(value);

export type ScriptedBroker = Broker & { seen: Seen[]; kept: { name: string; value: string }[] };

/** Read where an id may be a code. A script that does not name them has no configuration. */
const CONFIGURATION = ["reasons", "categories", "departments", "assignees", "resolutions"];
const isConfigurationList = (id: string): boolean =>
  CONFIGURATION.some((noun) => id === `${noun}.list`);

/** A script answers what its test is about: parts of records, and also what the client would refuse. */
const isScripted = <O extends Operation>(_operation: O, reply: Reply): reply is Reply<O> =>
  "output" in reply;

/** A broker with scripted responses. An unexpected call fails the test. */
export const scriptBroker = (
  plays: Record<string, ScriptedReply>,
  who: { tenantId?: string; principal?: string; extensions?: readonly string[] } = {},
): ScriptedBroker => {
  const seen: Seen[] = [];
  const kept: { name: string; value: string }[] = [];
  const play = async (id: string, args: CallArguments, options: CallOptions): Promise<Reply> => {
    const known = plays[id];
    if (known === undefined && isConfigurationList(id)) return toReply([]);
    seen.push({ id, args, options });
    if (known === undefined) throw new Error(`unexpected call of ${id}`);
    return readReply(await known(args, options));
  };
  const refuse = async (): Promise<never> => {
    throw new Error("unexpected use of the vault");
  };
  return {
    seen,
    kept,
    async call(operation, args, options) {
      const reply = await play(operation.id, args, options);
      if (!isScripted(operation, reply)) throw new Error(`no script answers ${operation.id}`);
      return reply;
    },
    login: (options) => play("auth.login", {}, options),
    verify: (options) => play("auth.verify_session", {}, options),
    logout: (options) => play("auth.logout", {}, options),
    extensions: async () => new Set(who.extensions),
    vault: {
      put: async ({ kind, keyId, value }) => {
        const name = `${kind}-${keyId}`;
        kept.push({ name, value });
        return name;
      },
      list: refuse,
      show: refuse,
      remove: refuse,
    },
    tenantId: who.tenantId ?? "tenant-1",
    principal: who.principal ?? "person-1",
    close: async () => {},
  };
};
