import fc from "fast-check";
import { fitting, type Schema, weird } from "./values.ts";

/** A message to the MCP server as text, and what its headers name. */
export type Message = { text: string; method: string; name: string };

type Tool = { name: string; inputSchema: Schema };

const META = `"_meta":${JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
})}`;

const METHODS = [
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
  "server/discover",
  "ping",
  "tools/call",
  "resources/read",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "tasks/get",
  "nothing/of/the/kind",
];

const quoted = (text: string): string => JSON.stringify(text);
const object = (fields: readonly (readonly [string, string])[]): string =>
  `{${fields.map(([name, text]) => `${quoted(name)}:${text}`).join(",")}}`;

/** Arguments that the schema allows mostly, and one that it hardly allows. */
const argumentsOf = ({ inputSchema }: Tool): fc.Arbitrary<string> => {
  const { properties = {} } = inputSchema;
  const known = Object.entries(properties);
  const field = ([name, schema]: [string, Schema]): fc.Arbitrary<[string, string]> =>
    fc.tuple(fc.constant(name), fc.oneof(fitting(schema), weird));
  const one = fc.oneof(...known.map(field), fc.tuple(fc.constantFrom("__proto__", "x"), weird));
  return fc.oneof(
    { weight: 4, arbitrary: fitting(inputSchema) },
    { weight: 3, arbitrary: fc.array(one, { maxLength: 4 }).map(object) },
    { weight: 1, arbitrary: weird },
  );
};

/** A request, with what each request of 2026 says about its client. */
export const message = (
  id: number,
  era: "2025" | "2026",
  method: string,
  params: string,
): string => {
  const inner = params.startsWith("{") ? params.slice(1, -1) : "";
  const meta = era === "2026" ? [META] : [];
  const whole = params.startsWith("{")
    ? `{${[...meta, ...(inner === "" ? [] : [inner])].join(",")}}`
    : params;
  return `{"jsonrpc":"2.0","id":${id},"method":${quoted(method)},"params":${whole}}`;
};

/** Requests with an id: calls of every tool, and other methods with parameters of every kind. */
export const requests = (
  tools: readonly Tool[],
  era: "2025" | "2026",
): fc.Arbitrary<(id: number) => Message> => {
  const calls = fc.constantFrom(...tools).chain((tool) =>
    argumentsOf(tool).map((args) => (id: number): Message => {
      const params = `{"name":${quoted(tool.name)},"arguments":${args}}`;
      const method = "tools/call";
      return { text: message(id, era, method, params), method, name: tool.name };
    }),
  );
  const names = fc.constantFrom("uri", "name", "arguments", "cursor", "level", "ref", "x");
  const params = fc.oneof(fc.array(fc.tuple(names, weird), { maxLength: 3 }).map(object), {
    weight: 1,
    arbitrary: fc.constantFrom("[]", "null", "1", '"x"', "{}"),
  });
  const others = fc
    .tuple(fc.constantFrom(...METHODS), params)
    .map(([method, text]) => (id: number): Message => ({
      text: message(id, era, method, text),
      method,
      name: "x",
    }));
  return fc.oneof({ weight: 3, arbitrary: calls }, { weight: 2, arbitrary: others });
};

/** Lines that are no requests. */
export const JUNK: readonly string[] = [
  "",
  "\r",
  "null",
  "1",
  "[]",
  "{}",
  "{",
  "\0\0",
  "\ufeff{}",
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
  '{"jsonrpc":"2.0","id":null,"method":"ping"}',
  '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}',
  '{"jsonrpc":"2.0","id":987654,"result":{}}',
  '{"jsonrpc":"2.0","id":987654,"error":{"code":"x"}}',
  '[{"jsonrpc":"2.0","id":987654,"method":"ping"}]',
  "[".repeat(100_000),
  `{"jsonrpc":"2.0","id":987654,"method":"ping","params":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
];
