import type { Section } from "./section.ts";

/** Packages, sign-in of companies, and proof. */
export const REACH_SECTIONS: readonly Section[] = [
  {
    title: "Skills and packages",
    lines: {
      "RC-01": "each task has a skill with a real example, whose tools and arguments exist",
      "RC-02": "the skills extension serves them, and its conformance scenarios pass",
      "RC-03": "a package for each host works without a checkout, and a page says how to connect",
      "RC-04": "the server card and its catalogue are readable by all and name no tenant",
      "RC-05":
        "search and fetch answer hosts for research in their form, if the setting names research",
    },
  },
  {
    title: "Proof",
    lines: {
      "RC-20": "an auditor checks the log without our key: each alteration is found and named",
    },
  },
  {
    title: "Growth",
    lines: {
      "RC-30": "of several hosts, the one that accepts writes is used, also after a failover",
      "RC-31":
        "a cluster that fails over under load loses nothing acknowledged, and writes come back",
      "RC-32":
        "a tenant moves to another installation while its clients work: nothing is lost or twice",
    },
  },
  {
    title: "Benchmark",
    lines: {
      "RC-40": "tasks on a generated tenant: right transcripts pass, wrong ones fail",
      "RC-41": "any model or program plays the tasks, in three modes, with a report",
    },
  },
];
