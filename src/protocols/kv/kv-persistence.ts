import { show, trueOrFalse, type FieldsOf, fieldsProblem, invalid, refuse, VerbsError } from '../../api/verbs/index.js';
import { type KvStore, newPartition } from './kv-store.js';
import { secretWord } from '../../api/provider/index.js';
import { checkPolicy, persist, type PersistenceStatistics, type SyncPolicy } from './persistence/index.js';
import { Partition } from './store/index.js';

/** What `openPersistence` takes. */
export interface KvPersistenceOptions {
  /** Of files for this store alone. It is made where there is none. */
  readonly directory: string;
  /** What is kept there: of `createStore`, with nothing in it. Default: a new one, a cache of 64 MiB. */
  readonly store?: KvStore | undefined;
  /** Default `always`. */
  readonly sync?: SyncPolicy | undefined;
  /** Whether a log that is damaged is read up to the damage, and what comes after is lost for good. Default: no, it is refused. */
  readonly repair?: boolean | undefined;
}

/** A store that is kept on disk: give it to `serve`, and close it after the server. */
export interface KvPersistence extends Disposable {
  readonly store: KvStore;
  readonly directory: string;
  readonly statistics: PersistenceStatistics;
  /** What was changed is on the disk then, unless that fails, and another program may open the folder. Idempotent. */
  close(): void;
}

const CALL = 'openPersistence';
const FIELDS: FieldsOf<KvPersistenceOptions> = {
  directory: true,
  store: true,
  sync: true,
  repair: trueOrFalse,
};
/** Less is read again in a moment, and not worth a snapshot. */
const LEAST_LOG_BYTES = 16 << 20;

/**
 * Opens a folder where a store is kept, and puts back what is there.
 *
 * @example
 * ```ts
 * using persistence = await openPersistence({ directory: 'data', store: createStore({ mode: 'store' }), sync: 'always' });
 * const server = serve({ port: 7175, persistence });
 * ```
 * @throws (the promise rejects) VerbsError EBUSY while another program has the folder open; EIO when a file is damaged, with where and what to do; ENOSPC when the store has
 * no room for what is there; EACCES and what else the system says; EOPNOTSUPP in a page of a browser; EINVAL for wrong arguments
 */
// eslint-disable-next-line @typescript-eslint/require-await -- a file system that answers later has to fit in
export async function openPersistence(options: KvPersistenceOptions): Promise<KvPersistence> {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  const { directory, sync = 'always', repair = false } = options;
  const { store = newPartition(CALL, {}, () => secretWord()) } = options;
  if (typeof directory !== 'string' || directory === '')
    throw new VerbsError(CALL, invalid(`directory is ${show(directory)}`, 'It is the path of a folder'));
  if (!(store instanceof Partition)) throw new VerbsError(CALL, invalid('store is none', 'Make it by createStore'));
  if (store.statistics.keys > 0 || store.changes !== undefined)
    throw new VerbsError(CALL, invalid('the store is in use', 'Make a new one'));
  checkPolicy(sync);
  const wallMs = (): number => Date.now();
  return persist(store, directory, {
    sync,
    repair,
    wallMs,
    random: () => secretWord(),
    leastLogBytes: LEAST_LOG_BYTES,
  });
}
