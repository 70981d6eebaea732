/** Accesses to the outside world, with the files and folders in which they are allowed. */
export const REACHES: { what: string; word: RegExp; allowed: readonly string[] }[] = [
  { what: "environment or arguments", word: /\bprocess\.(env|argv)\b/, allowed: ["src/bin"] },
  { what: "the console", word: /\bconsole\./, allowed: [] },
  { what: "the time", word: /\bDate\.now\b|\bnew Date\(\)/, allowed: ["src/kit", "src/bin"] },
  // Node.js's own recursive one may never end.
  { what: "new folders", word: /\bmkdir(Sync)?\(/, allowed: ["src/kit/make-folder.ts"] },
  { what: "randomness", word: /\bMath\.random\b|\brandomUUID\b/, allowed: ["src/kit", "src/bin"] },
  { what: "names of hosts", word: /["']node:dns/, allowed: ["src/kit/resolve.ts"] },
  {
    what: "HTTP requests of its own",
    word: /\brequest\b[^;]*["']node:https?["']|\bglobalThis\.fetch\(/,
    allowed: ["src/kit/tunnel.ts", "src/oauth/documents.ts", "src/platform/webhooks/send.ts"],
  },
  {
    what: "sockets of its own",
    word: /\b(?:connect|createConnection)\b[^;]*["']node:(?:net|tls)["']/,
    allowed: ["src/kit/tunnel.ts", "src/platform/clamd/clamd.ts"],
  },
  {
    what: "the disk",
    word: /["']node:fs/,
    allowed: [
      "src/bin",
      "src/config",
      "src/kit",
      "src/mcp/files/formats/pdfium.ts",
      "src/mcp/tools/call-log.ts",
      "src/mcp/tools/files/local-file.ts",
      "src/mcp/tools/asking/replay-guard.ts",
      "src/records",
      "src/platform/admin",
      "src/platform/demo",
      "src/platform/files",
      "src/platform/http/documents.ts",
      "src/platform/http/spool.ts",
      "src/platform/scan",
      "src/platform/store",
    ],
  },
];
