import { chromium } from "../test/support/chromium.ts";
import { drawDocs } from "./pictures/docs.ts";
import { drawIcon } from "./pictures/icon.ts";
import { drawSession } from "./pictures/session.ts";
import { drawSignIn } from "./pictures/sign-in.ts";
import { openStudio } from "./pictures/studio.ts";
import { drawTrace } from "./pictures/trace.ts";
import { drawViews } from "./pictures/views.ts";

const TOPICS = {
  icon: drawIcon,
  session: drawSession,
  "sign-in": drawSignIn,
  docs: drawDocs,
  trace: drawTrace,
  views: drawViews,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in TOPICS));

if (chromium === undefined) {
  process.stderr.write(
    "The pictures are made with Chromium, which is not in the PATH: install it, for instance with apt install chromium.\n",
  );
  process.exitCode = 1;
} else if (unknown.length > 0) {
  process.stderr.write(
    `Unknown: ${unknown.join(", ")}. The pictures are ${Object.keys(TOPICS).join(", ")}.\n`,
  );
  process.exitCode = 2;
} else {
  const studio = await openStudio(chromium);
  try {
    for (const [name, draw] of Object.entries(TOPICS)) {
      if (chosen.length === 0 || chosen.includes(name)) await draw(studio);
    }
  } finally {
    await studio.close();
  }
}
