import type { Node } from "./node.ts";
import type { Asked, Outcome } from "./records.ts";
import type { Task } from "./scheduler.ts";
import type { TenantId } from "./settings.ts";
import type { World } from "./world.ts";

/** A request that was sent, for the invariants over all requests. */
export type Sent = {
  number: number;
  tenantId: TenantId;
  as: Asked<unknown>["as"];
  method: string;
  path: string;
  /** The wall clock of its node when it was sent. */
  at: number;
  /** Whether the store could not write then. */
  isStoreFull: boolean;
  outcome: Outcome;
  /** Bytes of the file that it sends. */
  size: number;
  /** The text of its answer. */
  text: string;
  /** The seconds after which it may be sent again, where its answer says so. */
  retryAfter: number;
};

export type Sending = { sent: Sent; task: Task };

/** The name under which the audit log knows a request: it is sent as the name of an MCP tool. */
export const nameOf = (number: number): string => `sim.${number}`;

/** Whether a request has no credential, so that it belongs to no tenant. */
export const isAnonymous = (as: Sent["as"]): boolean => as === "visitor" || as === "guess";

const credential = (world: World, tenantId: TenantId, as: Sent["as"]): Record<string, string> => {
  const { gatewayKey, exportKey } = world.accounts[tenantId];
  if (isAnonymous(as)) return {};
  return as === "gateway" ? { "X-Platform-Api-Key": gatewayKey } : { "X-API-Key": exportKey };
};

const build = (
  world: World,
  tenantId: TenantId,
  number: number,
  asked: Asked<unknown>,
): Request => {
  const { method, path, as, body, raw, headers } = asked;
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return new Request(new URL(path, "http://platform.test"), {
    method,
    headers: {
      "X-Request-Id": `r${number}`,
      "X-Platform-Mcp-Tool": nameOf(number),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(raw === undefined ? {} : { "Content-Length": String(raw.byteLength) }),
      ...credential(world, tenantId, as),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  });
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Sends a request to a node. The answer is lost when the node ends before it is complete. */
export const send = (
  world: World,
  node: Node,
  { tenantId, number, asked }: { tenantId: TenantId; number: number; asked: Asked<unknown> },
): Sending => {
  const { method, path, as } = asked;
  const task: Task = { life: node.life, isOver: false };
  const outcome: Outcome = { kind: "lost", applied: undefined };
  const at = node.clock();
  const { isStoreFull } = world.disk;
  const answered = { outcome, text: "", retryAfter: 0 };
  const size = asked.raw?.byteLength ?? 0;
  const sent: Sent = { number, tenantId, as, method, path, at, isStoreFull, size, ...answered };
  world.tell(`  ${node.life.name} <- ${number} ${tenantId} ${method} ${path}`);
  const answer = async (): Promise<void> => {
    const response = await node.platform.fetch(build(world, tenantId, number, asked));
    const text = await response.text();
    if (node.life.hasEnded) return;
    const { status } = response;
    sent.outcome = { kind: "answered", status, body: parse(text) };
    sent.text = text;
    sent.retryAfter = Number(response.headers.get("Retry-After") ?? 0);
    world.tell(`  ${node.life.name} -> ${number} ${status} ${text.slice(0, 300)}`);
    task.isOver = true;
  };
  void node.run(() => answer());
  return { sent, task };
};
