import { readdirSync } from 'node:fs';
import { type ForeignCase, foreignCases } from '../foreign/index.js';
import type { Mapping, MappingEntry } from './types.js';

export type { Mapping, MappingEntry } from './types.js';

/** Files of this folder that are no mappings. */
const OTHERS: readonly string[] = ['index', 'types'];

/** `rdma-unit-test-cq-ex` of `unit/cq_ex_test.cc`: how the inventory of a foreign file and its mapping are called. */
export function stemOf({ source, file }: Pick<ForeignCase, 'source' | 'file'>): string {
  const name = file.replace(/^.*\//, '').replace(/\.\w+$/, '');
  return `${source}-${name.replace(/^test_|_test$/, '').replaceAll('_', '-')}`;
}

/** All mappings, by the stem of their file, which is also that of the inventory. */
export async function loadMappings(): Promise<ReadonlyMap<string, Mapping>> {
  const stems = readdirSync(new URL('./', import.meta.url))
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.slice(0, -'.js'.length))
    .filter((stem) => !OTHERS.includes(stem))
    .sort();
  const mappings = new Map<string, Mapping>();
  for (const stem of stems) {
    // Every file of this folder exports its mapping under this name; the type is checked where it is written.
    const { mapping } = (await import(`./${stem}.js`)) as { readonly mapping: Mapping };
    mappings.set(stem, mapping);
  }
  return mappings;
}

/** A foreign case and what we have for it. */
export interface MappedCase {
  readonly foreign: ForeignCase;
  readonly entry: MappingEntry | undefined;
}

/** Every foreign case with its entry, in the order of the inventory. */
export function mappedCases(mappings: ReadonlyMap<string, Mapping>): readonly MappedCase[] {
  return foreignCases.map((foreign) => {
    const mapping = mappings.get(stemOf(foreign)) ?? {};
    return { foreign, entry: Object.hasOwn(mapping, foreign.name) ? mapping[foreign.name] : undefined };
  });
}

/** The tests that an entry names; none where it gives a reason. */
export function testsNamedBy(entry: MappingEntry | undefined): readonly string[] {
  if (entry === undefined || !('test' in entry)) return [];
  return typeof entry.test === 'string' ? [entry.test] : entry.test;
}
