import { isRecord, parseIfJson } from "../../kit/json.ts";
import { type MessageId, restoreId, restoreIds } from "../message-ids.ts";
import { listRequestIds, readMessage, type Refusal, toErrorMessage } from "../messages.ts";
import { isEventStream } from "./responses.ts";

const NOT_HANDLED = "Another message of the batch is invalid, so this one was not handled.";

const EMPTY_BATCH: Refusal = { id: null, code: -32_600, message: "The batch has no messages." };

const respond = (refusals: readonly Refusal[], isBatch: boolean): Response => {
  const answers = refusals.map(toErrorMessage);
  const body = JSON.stringify(isBatch ? answers : answers[0]);
  return new Response(body, { status: 400, headers: { "Content-Type": "application/json" } });
};

const findRepeated = (ids: readonly MessageId[]): Refusal[] =>
  ids
    .filter((id, index) => ids.indexOf(id) !== index)
    .map((id) => ({ id, code: -32_600, message: "Another message of the batch has this id." }));

/** Reads the messages in a body: returns it as the SDK takes it, or the response that refuses it. */
export const readMessages = (body: unknown): { body: unknown } | { refusal: Response } => {
  const isBatch = Array.isArray(body);
  if (isBatch && body.length === 0) return { refusal: respond([EMPTY_BATCH], false) };
  const readings = [body].flat().map(readMessage);
  const messages = readings.flatMap((one) =>
    one !== "ignored" && "message" in one ? [one.message] : [],
  );
  const ids = listRequestIds(messages);
  const refusals = [
    ...readings.flatMap((one) => (one !== "ignored" && "refusal" in one ? [one.refusal] : [])),
    ...findRepeated(ids),
  ];
  if (refusals.length > 0) {
    const others = ids
      .filter((id) => !refusals.some((refusal) => refusal.id === id))
      .map((id) => ({ id, code: -32_600, message: NOT_HANDLED }));
    return { refusal: respond([...refusals, ...others], isBatch) };
  }
  // A notification without an effect.
  if (messages.length === 0 && !isBatch) return { refusal: new Response(null, { status: 202 }) };
  return { body: isBatch ? messages : messages[0] };
};

/** Names the requests in an error that names none: the SDK and the limits refuse requests without reading their ids. */
const withIds = async (response: Response, ids: readonly MessageId[]): Promise<Response> => {
  const text = await response.text();
  const error = parseIfJson(text);
  const { status, headers } = response;
  if (!isRecord(error) || error["id"] !== null || ids.length === 0) {
    return new Response(text, { status, headers });
  }
  const answers = ids.map((id) => ({ ...error, id: restoreId(id) }));
  return new Response(JSON.stringify(answers.length === 1 ? answers[0] : answers), {
    status,
    headers,
  });
};

/** Writes ids as the host wrote them into a stream, which has one message in each chunk. */
const withOddIds = (response: Response): Response => {
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const restored = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      controller.enqueue(encoder.encode(restoreIds(text)));
    },
  });
  return new Response(response.body.pipeThrough(restored), response);
};

/** Gives each answer in a response the id of its request, as the host wrote it. */
export const answerUnderIds = async (response: Response, body: unknown): Promise<Response> => {
  const ids = listRequestIds(body);
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const named = isJson && response.status >= 400 ? await withIds(response, ids) : response;
  if (!ids.some((id) => restoreId(id) !== id)) return named;
  return isJson || isEventStream(named) ? withOddIds(named) : named;
};
