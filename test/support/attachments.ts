import { DISPUTES, type Person, type Reply, type TestPlatform } from "./platform.ts";

/** A dispute of a tenant that is configured; gives the path of its files. */
export const disputeWithFiles = async (
  admin: Person,
  reasonId: string,
  documentNumber = "INV-1",
): Promise<{ disputeId: string; path: string }> => {
  const { status, text, body } = await admin.call("POST", DISPUTES, {
    body: { amount: 10, accountNumber: "A-1", documentNumber, reasonId },
  });
  if (status !== 201) throw new Error(text);
  return { disputeId: body.disputeId, path: `${DISPUTES}/${body.disputeId}/attachments` };
};

/** Path and query of an absolute URL. */
export const targetOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

export type Announced = { attachmentId: string; uploadUrl: string };

export const announce = async (
  who: Person,
  path: string,
  fileName: string,
  more: object = {},
): Promise<Announced> => {
  const { status, text, body } = await who.call("POST", path, { body: { fileName, ...more } });
  if (status !== 201) throw new Error(text);
  return body;
};

/** The file to its upload URL, without any credential. */
export const put = (
  at: TestPlatform,
  url: string,
  bytes: string | Uint8Array<ArrayBuffer>,
  method = "PUT",
): Promise<Reply> => {
  const length = String(Buffer.byteLength(bytes));
  return at.call(method, targetOf(url), { raw: bytes, headers: { "Content-Length": length } });
};

/** A file that has been announced, uploaded and scanned. */
export const attach = async (
  at: TestPlatform,
  who: Person,
  path: string,
  file: { fileName: string; bytes: string | Uint8Array<ArrayBuffer>; visibility?: string },
): Promise<{ attachmentId: string; uploadUrl: string; body: Record<string, unknown> }> => {
  const { fileName, bytes, ...more } = file;
  const { attachmentId, uploadUrl } = await announce(who, path, fileName, more);
  const sent = await put(at, uploadUrl, bytes);
  if (sent.status !== 204) throw new Error(sent.text);
  await at.platform.worker.runDue();
  const { body } = await who.call("GET", `${path}/${attachmentId}`);
  return { attachmentId, uploadUrl, body };
};
