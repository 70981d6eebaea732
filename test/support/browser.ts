/** A browser without a window: cookies with paths, redirects and forms. */
export type Shown = { url: string; status: number; headers: Headers; text: string };

type Cookie = { name: string; value: string; path: string };

const attribute = (parts: readonly string[], name: string): string | undefined =>
  parts.find((part) => part.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);

const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

const attributeIn = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return found === undefined ? undefined : unescaped(found);
};

/** Returns the values that a page's form sends if no field is changed. */
export const fieldsIn = (text: string): [string, string][] =>
  [...text.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const [name, type] = [attributeIn(tag, "name"), attributeIn(tag, "type")];
    if (name === undefined) return [];
    if (/^(radio|checkbox)$/.test(type ?? "") && !/\schecked\b/.test(tag)) return [];
    return [[name, attributeIn(tag, "value") ?? ""]];
  });

export const openBrowser = (
  headers: Record<string, string> = {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
) => {
  let cookies: Cookie[] = [];

  const keep = (url: URL, lines: string[]): void => {
    for (const line of lines) {
      const [pair = "", ...rest] = line.split(";").map((part) => part.trim());
      const [name = "", value = ""] = pair.split("=");
      const path = attribute(rest, "path") ?? url.pathname;
      cookies = cookies.filter((one) => one.name !== name || one.path !== path);
      const ended = attribute(rest, "max-age") === "0" || /expires=Thu, 01 Jan 1970/i.test(line);
      if (value !== "" && !ended) cookies.push({ name, value, path });
    }
  };

  const covers = (path: string, asked: string): boolean =>
    asked === path || asked.startsWith(path.endsWith("/") ? path : `${path}/`);

  const ask = async (to: string, init: RequestInit = {}): Promise<Shown> => {
    const url = new URL(to);
    const sent = cookies.filter(({ path }) => covers(path, url.pathname));
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: {
        accept: "text/html",
        ...headers,
        cookie: sent.map(({ name, value }) => `${name}=${value}`).join("; "),
        ...(init.headers as Record<string, string>),
      },
    });
    keep(url, answer.headers.getSetCookie());
    return { url: to, status: answer.status, headers: answer.headers, text: await answer.text() };
  };

  /** Follows redirects as long as they stay with the server that was asked first. */
  const follow = async (first: Shown): Promise<Shown> => {
    const { origin } = new URL(first.url);
    let shown = first;
    for (let hops = 0; hops < 10; hops++) {
      const location = shown.headers.get("location");
      if (location === null) return shown;
      const next = new URL(location, shown.url);
      if (next.origin !== origin) return { ...shown, url: next.href };
      shown = await ask(next.href);
    }
    throw new Error(`more redirects than a browser follows, at ${shown.url}`);
  };

  return {
    ask,
    open: async (url: string): Promise<Shown> => follow(await ask(url)),
    /** Submits the page's form with these values and follows redirects. */
    async submit(
      page: Shown,
      filled: Record<string, string | string[]>,
      more: Record<string, string> = {},
    ): Promise<Shown> {
      const body = new URLSearchParams(
        fieldsIn(page.text).filter(([name]) => !Object.hasOwn(filled, name)),
      );
      for (const [name, values] of Object.entries(filled)) {
        for (const value of [values].flat()) body.append(name, value);
      }
      return follow(await ask(page.url, { method: "POST", body, headers: more }));
    },
    cookies: () => cookies,
  };
};

export type Browser = ReturnType<typeof openBrowser>;
