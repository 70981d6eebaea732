import type { KnipConfig } from "knip";
import tooling from "./tooling/package.json" with { type: "json" };

const config: KnipConfig = {
  workspaces: {
    ".": {
      entry: [
        "src/bin/keychain.ts",
        "src/platform/scan/worker.ts",
        "src/mcp/files/worker.ts",
        "src/views/app/*.tsx",
        "src/platform/store/sqlite/reader/thread.ts",
        "scripts/*.ts",
        "scripts/build/*.ts",
        "bench/peers/*.ts",
        "bench/growth.ts",
        "bench/platform/audit-server.ts",
        "bench/platform/server.ts",
        "bench/platform/without-audit.ts",
        "bench/platform/no-audit.ts",
        "bench/client/server.ts",
        "bench/http/server.ts",
        "bench/platform/fairness-attack.ts",
        "bench/platform/fairness-server.ts",
        "bench/platform/import-peak.ts",
        "bench/platform/payments-server.ts",
        "test/**/*.test.ts",
        "test/support/view-host/page.ts",
        "test/support/conformance/auth-client.ts",
      ],
      project: ["{src,tools,prompts,test,scripts,bench,evals}/**/*.{ts,tsx}", "*.ts"],
    },
  },
  ignoreExportsUsedInFile: true,
  // Of the workspace, but imported and run from here.
  ignoreDependencies: Object.keys(tooling.devDependencies),
  ignoreBinaries: [
    "knip",
    "oxfmt",
    "oxlint",
    "tsc",
    "dbus-daemon",
    "dd",
    "gnome-keyring-daemon",
    "mkfifo",
    "mount",
    "prlimit",
    "script",
    "umount",
  ],
};

// oxlint-disable-next-line import/no-default-export -- knip reads it
export default config;
