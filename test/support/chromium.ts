import { findProgram } from "./programs.ts";

/** The path of Chromium on this machine; undefined where there is none. */
export const chromium = findProgram(
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
);

/** Only loopback names resolve, so that a request of a page to another host fails. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];
