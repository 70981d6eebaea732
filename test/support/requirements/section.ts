/** A section of the acceptance list: what each requirement id demands. */
export type Section = { title: string; lines: Record<string, string> };
