import type { Section } from "./section.ts";

/** Requests of hosts, proxies, browsers and their surroundings. */
export const HOST_SECTIONS: readonly Section[] = [
  {
    title: "Hosts, proxies and browsers",
    lines: {
      "HS-01": "a refresh whose answer was lost can be repeated; later reuse ends the grant",
      "HS-02": "requests of hosts are narrowed to what is offered; unsafe ones are refused",
      "HS-03": "what a setting admits works from a browser; a form sent twice repeats its effect",
      "HS-04": "HTTP by RFC 9110: ranges, weights, letter case, empty and repeated headers",
      "HS-05": "each message with a readable id gets exactly one answer under that id",
      "HS-06": "logs cost no answers, npm ends its processes, proxies and CAs are honoured",
      "HS-09":
        "the first minutes: addresses, causes and remedies, blocks to copy, reset and removal",
    },
  },
  {
    title: "Attacks on open endpoints and limits",
    lines: {
      "C-112": "a setting that names callers or a public address excludes an open endpoint",
      "C-116": "limits count people and addresses, not credentials",
    },
  },
  {
    title: "The page of the server and its views",
    lines: {
      "HS-08":
        "the page loses no typed text, makes few requests, and finds and reaches every record",
      "WK-06": "records have pages, for people who may see them",
    },
  },
];
