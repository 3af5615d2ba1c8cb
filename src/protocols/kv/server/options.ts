import { LISTEN_FIELDS, type ListenOptions } from '../../../api/rdmacm/index.js';
import {
  callback,
  type FieldsOf,
  fieldsProblem,
  invalid,
  MAX_TIMER_MS,
  refuse,
  trueOrFalse,
  VerbsError,
  wholeNumber,
} from '../../../api/verbs/index.js';
import { type KvStore, newPartition } from '../kv-store.js';
import { secretWord } from '../../../api/provider/index.js';
import type { KvPersistence } from '../kv-persistence.js';
import { Persistence } from '../persistence/index.js';
import { Partition } from '../store/index.js';
import { MAX_WINDOW } from '../wire/index.js';

/** What `serve` takes. */
export interface KvServeOptions extends ListenOptions {
  /** What is served: of `createStore`. Nobody else may serve it meanwhile. Default: a new one, a cache of 64 MiB. */
  readonly store?: KvStore | undefined;
  /** Keeps what is changed, from `openPersistence`, and has the store; by default what is changed is in memory alone. Whoever has opened it closes it after the server. */
  readonly persistence?: KvPersistence | undefined;
  /**
   * Whether clients may read keys and values in the server's memory by themselves, by RDMA READ. Those who do can read all of it, also what was deleted and is not
   * written over yet, and know how keys are hashed. Not together with `persistence`: they would read what is not kept yet. Default: no.
   */
  readonly oneSided?: boolean | undefined;
  /** Clients at a time; whoever comes beyond that is refused: EBUSY. Default 1024. */
  readonly maxClients?: number | undefined;
  /** Requests of one client that may be under way, at most: 1 to 1024; default 64. */
  readonly maxWindow?: number | undefined;
  /**
   * Milliseconds after which a client of which nothing was heard is forgotten: from 15 000 on, since clients are heard of every 10 s; default 60 000.
   */
  readonly maxSilenceMs?: number | undefined;
  /** Gives 32 bits that nobody can guess: of these are sessions named. Default: those of Web Crypto. */
  readonly random?: (() => number) | undefined;
}

const FIELDS: FieldsOf<KvServeOptions> = {
  ...LISTEN_FIELDS,
  store: true,
  persistence: true,
  oneSided: trueOrFalse,
  maxClients: wholeNumber(1, 2 ** 20),
  maxWindow: wholeNumber(1, MAX_WINDOW),
  maxSilenceMs: wholeNumber(15_000, MAX_TIMER_MS),
  random: callback('It gives 32 bits'),
};
const CALL = 'serve';

export interface KvServerSettings {
  readonly store: Partition;
  readonly persistence: Persistence | undefined;
  readonly oneSided: boolean;
  readonly maxClients: number;
  readonly maxWindow: number;
  readonly maxSilenceMs: number;
  readonly random: () => number;
  readonly where: ListenOptions;
}

/** @throws VerbsError EINVAL for what makes no sense */
export function settingsOf(options: KvServeOptions): KvServerSettings {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  const { store: given, persistence, maxClients = 1024, maxWindow = 64, ...rest } = options;
  const { maxSilenceMs = 60_000, random = () => secretWord(options.context), oneSided = false, ...where } = rest;
  if (persistence !== undefined && !(persistence instanceof Persistence))
    throw new VerbsError(CALL, invalid('persistence is none', 'Open it by openPersistence'));
  const store = given ?? persistence?.store ?? newPartition(CALL, {}, random);
  if (!(store instanceof Partition)) throw new VerbsError(CALL, invalid('store is none', 'Make it by createStore'));
  if (persistence !== undefined && persistence.store !== store)
    throw new VerbsError(
      CALL,
      invalid('persistence keeps another store', 'Give store to openPersistence, and not to serve'),
    );
  requireOneSided(oneSided, store, persistence);
  return { store, persistence, oneSided, maxClients, maxWindow, maxSilenceMs, random, where };
}

function requireOneSided(oneSided: boolean, { seed }: Partition, persistence: Persistence | undefined): void {
  if (!oneSided) return;
  if (persistence !== undefined)
    throw new VerbsError(
      CALL,
      invalid('oneSided has clients read what is not kept yet', 'Leave out persistence, or oneSided'),
    );
  if (seed === undefined)
    throw new VerbsError(CALL, invalid('the keys of the store are hashed otherwise', 'Make it by createStore'));
}
