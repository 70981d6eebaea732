import { describe, expect, it } from "vitest";
import { sources, isWithin, targetsOf } from "./support/sources.ts";

const code = ["src", "tools", "prompts"].flatMap(sources);

const SERVER = ["server.ts", "handlers.ts", "lists.ts", "server-info.ts"];
const FEATURES = ["tools", "resources", "prompts", "skills"];

/**
 * The parts of the MCP server that each part may import: transports, server, tools, results, caller. The server is
 * several files, since the stdio handshake loads `server-info.ts` alone and the first call of a tool loads `handlers.ts`.
 */
const MESSAGES = ["messages.ts", "message-ids.ts"];
const MCP_LAYERS: Record<string, readonly string[]> = {
  stdio: [...SERVER, ...FEATURES, "results", "caller.ts", ...MESSAGES],
  http: [...SERVER, ...FEATURES, "results", "caller.ts", "icons.ts", ...MESSAGES],
  "server.ts": ["handlers.ts", "lists.ts", "server-info.ts", ...FEATURES, "results", "caller.ts"],
  "lists.ts": ["server-info.ts", ...FEATURES, "results", "caller.ts"],
  "handlers.ts": [...FEATURES, "results", "caller.ts"],
  "server-info.ts": [...FEATURES, "results", "caller.ts", "icons.ts"],
  tools: ["files", "results", "caller.ts"],
  resources: ["skills", "results", "caller.ts"],
  prompts: ["files", "results", "caller.ts"],
  skills: ["tools", "results", "caller.ts"],
  files: ["results"],
  results: ["caller.ts"],
  "caller.ts": [],
  "icons.ts": [],
  "messages.ts": ["message-ids.ts"],
  "message-ids.ts": [],
};

const MCP = "src/mcp/";

/** The folder or file directly below `src/mcp` that a path belongs to. */
const mcpPartOf = (path: string): string => path.slice(MCP.length).split("/")[0] ?? "";

describe("the MCP server has layers", () => {
  const files = code.filter(({ path }) => path.startsWith(MCP));

  it("has no other parts than these", () => {
    const parts = new Set(files.map(({ path }) => mcpPartOf(path)));
    expect([...parts].toSorted()).toEqual(Object.keys(MCP_LAYERS).toSorted());
  });

  it("imports, types included, point from the transports to the caller", () => {
    const upward = files.flatMap((file) => {
      const allowed = [mcpPartOf(file.path), ...(MCP_LAYERS[mcpPartOf(file.path)] ?? [])];
      return targetsOf(file)
        .filter((target) => target.startsWith(MCP) && !allowed.includes(mcpPartOf(target)))
        .map((target) => `${file.path} imports ${target}`);
    });
    expect(upward).toEqual([]);
  });

  it("only the command line imports a transport", () => {
    const importers = code.filter(
      (file) =>
        !isWithin(file.path, [
          "src/bin",
          "src/records",
          "src/server",
          "src/mcp/stdio",
          "src/mcp/http",
        ]) && targetsOf(file).some((target) => isWithin(target, ["src/mcp/stdio", "src/mcp/http"])),
    );
    expect(importers.map(({ path }) => path)).toEqual([]);
  });
});
