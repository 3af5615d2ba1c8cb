import type { Mutant } from './mutant.js';
import { corrections, locate } from './places/locate.js';
import type { SourceTree } from './places/source-tree.js';
import { type Table, write } from './table.js';

/** Properties of a rule and their new values. */
type Changes = Readonly<Record<string, string>>;

/** What {@link updateTables} did, a line for each rule. */
export interface Update {
  readonly written: string[];
  /** Rules that need a person. */
  readonly problems: string[];
}

/**
 * What a rule must say to be found where it is now.
 * @returns undefined when it needs no change
 * @throws Error when nothing, or more than one place, may be meant
 */
export function changesFor(rule: Mutant, tree: SourceTree): Changes | undefined {
  try {
    const { declaration } = locate(rule, tree);
    return tree.named(rule.in).length > 0 ? undefined : { in: declaration };
  } catch (error) {
    const found = corrections(rule, tree);
    if (found.length !== 1) throw error;
    const [{ place: _, ...now }] = found;
    return Object.fromEntries(Object.entries(now).filter(([key, value]) => rule[key as keyof typeof now] !== value));
  }
}

/** Writes the new places of some rules into their tables. */
export function updateTables(tables: readonly Table[], chosen: readonly Mutant[], tree: SourceTree): Update {
  const update: Update = { written: [], problems: [] };
  for (const { url, rules } of tables) {
    const next = rules.map((rule) => {
      if (!chosen.includes(rule)) return rule;
      try {
        const changes = changesFor(rule, tree);
        if (changes === undefined) return rule;
        const what = Object.entries(changes).map(([property, value]) => `${property}: ${value}`);
        update.written.push(`${rule.name}: ${what.join(', ')}`);
        return { ...rule, ...changes };
      } catch (error) {
        update.problems.push(error instanceof Error ? error.message : String(error));
        return rule;
      }
    });
    if (next.some((rule, i) => rule !== rules[i])) write({ url, rules: next });
  }
  return update;
}
