import { beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createOptions } from "./hosts.ts";
import { FORM } from "./messages.ts";
import { openHttp, openStdio } from "./opened.ts";
import { type ScriptedBroker, scriptBroker } from "./script.ts";

let broker: ScriptedBroker;
beforeEach(() => {
  broker = scriptBroker({ "departments.get": () => ({ departmentId: "d" }) });
});

/** Bytes that no UTF-8 text has, one letter each. */
const INVALID: [what: string, bytes: string][] = [
  ["bytes that begin no character", "\u00ff\u00c0"],
  ["an overlong NUL", "\u00c0\u0080"],
  ["a surrogate", "\u00ed\u00a0\u0080"],
  ["half a character", "\u00c3"],
  ["a character beyond the last one", "\u00f4\u0090\u0080\u0080"],
];

/** Encodes each letter as one byte. */
const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");

const initialize = (id: number, name: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"${name}","version":"1"}}}`;
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const ping = (id: number, key: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"_meta":{"${key}":1}}}`;
const get = (id: number, code: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"departments_get","arguments":{"departmentCode":"${code}"}}}`;
/** "Zürich" in UTF-8. */
const VALID = "Z\u00c3\u00bcrich";

type Answer = { id: unknown; error?: { code: number; message: string } };

const refusalOf = (id: number) => ({
  id,
  error: { code: -32_700, message: expect.stringMatching(/not UTF-8; send it in UTF-8/) },
});

describe.each(INVALID)("a line over stdio with %s", (_what, bytes) => {
  verifies("C-41", "C-50");
  it("is refused during the handshake and after it, and the next line is answered", async () => {
    const { input, lines } = openStdio(await createOptions(broker));
    let taken = 0;
    const ask = async (text: string): Promise<Answer> => {
      input.write(bytesOf(`${text}\n`));
      await expect.poll(() => lines().length, { timeout: 15_000 }).toBeGreaterThan(taken);
      const line = lines()[taken] ?? "";
      taken += 1;
      return JSON.parse(line);
    };
    expect(await ask(initialize(1, bytes))).toMatchObject(refusalOf(1));
    expect(await ask(initialize(2, VALID))).toMatchObject({ id: 2, result: {} });
    expect(await ask(`${INITIALIZED}\n${ping(3, bytes)}`)).toMatchObject(refusalOf(3));
    expect(await ask(get(4, VALID))).toMatchObject({ id: 4, result: {} });
    expect(await ask(get(5, bytes))).toMatchObject(refusalOf(5));
    expect(await ask(ping(6, bytes))).toMatchObject(refusalOf(6));
    expect(await ask(get(7, VALID))).toMatchObject({ id: 7, result: {} });
    expect(broker.seen.map(({ args }) => args["departmentCode"])).toEqual(["Zürich", "Zürich"]);
  });
});

describe.each(INVALID)("a request over HTTP with %s", (_what, bytes) => {
  verifies("C-41", "C-50");
  it("is refused with 400, whole or in chunks, and the next one is answered", async () => {
    const url = await openHttp(await createOptions(broker));
    const post = async (text: string, { isChunked = false, session = "" } = {}) => {
      const body = bytesOf(text);
      // One byte each, so that characters are divided.
      const chunks = ReadableStream.from(Array.from(body, (byte) => Buffer.from([byte])));
      const response = await fetch(url, {
        method: "POST",
        headers: { ...FORM, ...(session === "" ? {} : { "mcp-session-id": session }) },
        ...(isChunked ? { body: chunks, duplex: "half" } : { body }),
      });
      const said = await response.text();
      const answer: unknown = said && JSON.parse(/^data: (\{.*)$/m.exec(said)?.[1] ?? said);
      return { status: response.status, session: response.headers.get("mcp-session-id"), answer };
    };
    const refusedAs = (id: number) => ({ status: 400, answer: refusalOf(id) });
    expect(await post(initialize(1, bytes))).toMatchObject(refusedAs(1));
    const opened = await post(initialize(2, VALID));
    expect(opened).toMatchObject({ status: 200, answer: { id: 2, result: {} } });
    const session = opened.session ?? "";
    await post(INITIALIZED, { session });
    for (const isChunked of [false, true]) {
      const sent = { session, isChunked };
      expect(await post(get(3, bytes), sent)).toMatchObject(refusedAs(3));
      expect(await post(ping(4, bytes), sent)).toMatchObject(refusedAs(4));
      const answer = { id: 5, result: {} };
      expect(await post(get(5, VALID), sent)).toMatchObject({ status: 200, answer });
    }
    expect(broker.seen.map(({ args }) => args["departmentCode"])).toEqual(["Zürich", "Zürich"]);
  });
});
