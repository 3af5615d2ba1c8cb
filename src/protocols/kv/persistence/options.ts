import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';

/**
 * When what was changed is on the disk. `always`: before the change is answered. `{ everyMs }`: so many milliseconds later at most, 1 to 3,600,000; a machine that fails loses
 * what was changed meanwhile. `never`: when the system chooses. Under each of them a server that is killed loses nothing that it has answered, as long as the machine goes on.
 */
export type SyncPolicy = 'always' | 'never' | { readonly everyMs: number };

export interface PersistenceSettings {
  readonly sync: SyncPolicy;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  /** 32 bits that nobody can guess. */
  readonly random: () => number;
  /** A snapshot is made once the logs have more bytes than that, and than some multiple of what is in the store. */
  readonly leastLogBytes: number;
  /** Leaves out what comes after damage. */
  readonly repair: boolean;
}

const CALL = 'openPersistence';
const MOST_EVERY_MS = 3_600_000;
const EVERY: FieldsOf<{ readonly everyMs: number }> = { everyMs: true };

/** @throws VerbsError EINVAL for what is none */
export function checkPolicy(sync: SyncPolicy): void {
  if (sync === 'always' || sync === 'never') return;
  const advice = `It is 'always', 'never' or { everyMs: 1 to ${MOST_EVERY_MS} }`;
  refuse(CALL, fieldsProblem('sync', sync, EVERY));
  const { everyMs } = sync;
  if (Number.isInteger(everyMs) && everyMs >= 1 && everyMs <= MOST_EVERY_MS) return;
  throw new VerbsError(CALL, invalid(`sync.everyMs is ${show(everyMs)}`, advice));
}
