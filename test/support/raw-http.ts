import { request } from "node:http";

type Answer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** Sends a request with exactly these headers; `fetch` would add and refuse some. */
export const ask = (
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: string },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      incoming.once("end", () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
      );
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
