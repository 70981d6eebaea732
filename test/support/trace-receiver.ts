import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { closeNow, listen } from "./listen.ts";

/** A span as a collector gets it: ids in hexadecimal; the parent's is empty for the root of a trace. */
export type ReceivedSpan = {
  traceId: string;
  id: string;
  parentId: string;
  name: string;
  /** Nanoseconds since the epoch. */
  startNs: bigint;
  endNs: bigint;
};

type Field = { number: number; value: Uint8Array | bigint };

/** Reads the fields of one protobuf message. */
const readFields = (bytes: Uint8Array): Field[] => {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Uint8Array => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const fields: Field[] = [];
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    const value = kind === 0 ? varint() : take(kind === 2 ? Number(varint()) : kind === 1 ? 8 : 4);
    fields.push({ number: tag >> 3, value });
  }
  return fields;
};

/** Returns the nested messages or byte strings of one field. */
const nested = (bytes: Uint8Array, number: number): Uint8Array[] =>
  readFields(bytes).flatMap((field) =>
    field.number === number && typeof field.value !== "bigint" ? [field.value] : [],
  );

const first = (bytes: Uint8Array, number: number): Buffer =>
  Buffer.from(nested(bytes, number)[0] ?? []);

const toSpan = (bytes: Uint8Array): ReceivedSpan => ({
  traceId: first(bytes, 1).toString("hex"),
  id: first(bytes, 2).toString("hex"),
  parentId: first(bytes, 4).toString("hex"),
  name: first(bytes, 5).toString(),
  startNs: first(bytes, 7).readBigUInt64LE(),
  endNs: first(bytes, 8).readBigUInt64LE(),
});

/** Starts a collector that takes traces by OTLP over HTTP (`ExportTraceServiceRequest` as protobuf). */
export const startTraceReceiver = async () => {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    bodies.push(body);
    const scopes = nested(body, 1).flatMap((resource) => nested(resource, 2));
    spans.push(...scopes.flatMap((scope) => nested(scope, 2)).map(toSpan));
    response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    spans,
    /** All that was received, as text. */
    text: () => Buffer.concat(bodies).toString("latin1"),
    close: () => closeNow(server),
  };
};
