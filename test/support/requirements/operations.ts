import type { Section } from "./section.ts";

/** Requirements of operating the service. */
export const OPERATIONS_SECTIONS: readonly Section[] = [
  {
    title: "Operations",
    lines: {
      "OP-01": "one entry per export request, attempted change, tool call and failed login",
      "OP-02": "commands that change something have entries, with the operator",
      "OP-03": "entries name who acted and the record",
      "OP-06": "doctor writes nothing, names itself, and checks key, store, files and public URL",
      "OP-07": "an unknown setting stops the start and names the nearest known one",
      "OP-10":
        "operators list and delete tenants, users, roles and keys; deleting asks for the name",
      "OP-11": "passwords are long and uncommon; a new one ends sessions; links and pages set one",
      "OP-12":
        "a tenant moves to another store record for record; a person's data is shown, removed",
      "OP-21":
        "files in a folder or on S3; a node with another file store than the database's does not start",
      "OP-20": "nodes share one database, one file store and the master key, nothing else",
      "OP-22": "every request of a session of either era succeeds on any node, without affinity",
      "OP-23": "/ready turns 503 first at SIGTERM, and no request is lost while nodes restart",
      "OP-24": "the store works behind PgBouncer in transaction mode",
      "OP-25":
        "schema changes fit the release before; a newer store is refused by name and version",
      "OP-30": "/health says that the process lives, /ready checks each part and gives the reason",
      "OP-31": "/metrics where an address is set, without tenants and personal data in labels",
      "OP-32": "traces from host to SQL, exported where OTEL settings say so",
      "OP-33": "one log line per request, failed logins with the address, tool calls with caller",
      "OP-40":
        "admin backup and restore of the embedded store under load, a tested procedure for PostgreSQL",
      "OP-42":
        "deploy/ has container, compose, systemd units and proxies, checked as far as possible",
      "OP-43": "docs/operations.md covers keeping and running; every documented command is checked",
      "OP-41": "the former master key reads what it sealed, secrets rotate seals it anew",
    },
  },
];
