/** Calls the documented REST API and returns the body of the reply. @throws {Error} if the platform refuses */
export type Api = (method: string, path: string, body?: object) => Promise<unknown>;

type Send = (request: Request) => Promise<Response>;
type Keys = { apiKey: string; extApiKey: string };

/** Creates a caller with the keys of a person. `send` is `fetch`, or a platform in this process. */
export const createApi =
  (send: Send, { apiKey, extApiKey }: Keys, origin = "http://platform.local"): Api =>
  async (method, path, body) => {
    const request = new Request(origin + path, {
      method,
      headers: {
        "X-Platform-Api-Key": apiKey,
        "X-API-Key": extApiKey,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await send(request);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
