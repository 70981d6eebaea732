import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { createBaseUrlOf } from "../../src/platform/http/base-url.ts";

const ownUrl = async (): Promise<string> => "http://127.0.0.1:4711";
const request = new Request("http://platform.example:8080/dispute/v1/x?y=z");
const socket = {} as IncomingMessage;

it("signed URLs begin with the address of the request if it came over a socket", async () => {
  const baseUrlOf = createBaseUrlOf({ publicUrl: undefined, ownUrl });
  expect(await baseUrlOf(request, socket)).toBe("http://platform.example:8080");
});

it("signed URLs of calls in memory lead to the address of this process", async () => {
  const baseUrlOf = createBaseUrlOf({ publicUrl: undefined, ownUrl });
  expect(await baseUrlOf(request, undefined)).toBe("http://127.0.0.1:4711");
});

it("signed URLs begin with the configured URL, independent of the request", async () => {
  const baseUrlOf = createBaseUrlOf({ publicUrl: "https://files.example/receivables/", ownUrl });
  for (const incoming of [socket, undefined]) {
    expect(await baseUrlOf(request, incoming)).toBe("https://files.example/receivables");
  }
});
