import { describe, expect, it } from "vitest";
import { readMessage } from "../../src/mcp/messages.ts";
import { verifies } from "../support/verifies.ts";

verifies("HS-05");
describe("empty lists in place of objects", () => {
  it("are read as objects in answers to questions", () => {
    const read = (members: object) => readMessage({ jsonrpc: "2.0", id: 1, ...members });
    expect(read({ result: [] })).toEqual({ message: { jsonrpc: "2.0", id: 1, result: {} } });
    const declined = { action: "decline", content: [] };
    const result = { action: "decline", content: {} };
    expect(read({ result: declined })).toEqual({ message: { jsonrpc: "2.0", id: 1, result } });
    const params = { name: "t", inputResponses: { confirm: declined } };
    expect(read({ method: "tools/call", params })).toMatchObject({
      message: { params: { inputResponses: { confirm: result } } },
    });
  });

  it("stay where a list is meant", () => {
    const message = { jsonrpc: "2.0", id: 1, result: { roots: [] } };
    expect(readMessage(message)).toEqual({ message });
  });

  it("are read as objects in what a host of 2026 says about itself", () => {
    const meta = (info: unknown, capabilities: unknown) => ({
      "io.modelcontextprotocol/clientInfo": info,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    const params = { _meta: meta([], { elicitation: [] }) };
    expect(readMessage({ jsonrpc: "2.0", id: 1, method: "tools/list", params })).toMatchObject({
      message: {
        params: { _meta: meta({ name: "unknown", version: "unknown" }, { elicitation: {} }) },
      },
    });
  });
});
