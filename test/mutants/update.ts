import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Mutant, ROOT } from './mutant.js';
import { corrections, locate } from './places/locate.js';
import { type Changes, rewriteRule } from './places/rewrite.js';
import type { SourceTree } from './places/source-tree.js';

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

/** Writes the new places of rules into the tables. */
export function updateTables(rules: readonly Mutant[], tree: SourceTree): Update {
  const folder = new URL('test/mutants/rules/', ROOT);
  const tables = new Map(readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]));
  const update: Update = { written: [], problems: [] };
  for (const rule of rules)
    try {
      const changes = changesFor(rule, tree);
      if (changes === undefined) continue;
      const found = [...tables].flatMap(([file, text]) => {
        const next = rewriteRule(text, rule.name, changes);
        return next === undefined ? [] : [{ file, next }];
      });
      if (found.length !== 1)
        throw new Error(`mutant ${rule.name}: ${String(found.length)} tables hold its name. Edit it by hand.`);
      for (const { file, next } of found) {
        tables.set(file, next);
        writeFileSync(new URL(file, folder), next);
      }
      const what = Object.entries(changes).map(([property, value]) => `${property}: ${value}`);
      update.written.push(`${rule.name}: ${what.join(', ')}`);
    } catch (error) {
      update.problems.push(error instanceof Error ? error.message : String(error));
    }
  return update;
}
