import { request } from "node:http";
import { wildServer, type WildServer } from "./wild-server.ts";

/** Stands between a client and a platform, passes everything on and remembers what was asked. */
export const recorder = (target: string): Promise<WildServer> =>
  wildServer(({ method, url, headers, body }, response) => {
    const passed = request(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.writeHead(502).end());
    passed.end(body);
  });
