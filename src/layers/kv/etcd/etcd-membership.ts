import { fieldsProblem, refuse, VerbsError } from '../../../api/verbs/index.js';
import type { KvMembership, NamedMember } from '../cluster/member.js';
import { behind, entriesIn, keysOf, type EtcdKeys, membersIn, MOST_ENTRIES, toBase64 } from './entries.js';
import { type Answer, EtcdClient, isObject } from './etcd-client.js';
import { Limit } from './limit.js';
import { ETCD_FIELDS, type EtcdOptions, settingsOf } from './options.js';
import { sleep } from './sleep.js';

const CALL = 'etcdMembership';
/** etcd is looked for again that soon, and then after longer and longer. */
const PAUSE_MS = 200;
const MOST_PAUSE_MS = 2000;
/** What nobody tells is looked at after so long: a connection may end without a word. */
const LOOK_AGAIN_MS = 10_000;
/** Problems that are told: whoever can write to etcd could go on for ever. */
const MOST_TOLD = 100;

/**
 * The servers that have registered themselves by `registerInEtcd`, or `kv serve --etcd`. While etcd cannot be reached, and when it says that there is nobody, clients go on with the
 * servers that they know.
 *
 * @example
 * ```ts
 * using cache = await connectCluster({ members: etcdMembership({ endpoints: 'http://127.0.0.1:2379' }) });
 * ```
 * @throws VerbsError EINVAL for wrong arguments. Whoever connects is told ECONNREFUSED when no etcd answers, EPROTO when that is not etcd
 */
export function etcdMembership(options: EtcdOptions): KvMembership {
  refuse(CALL, fieldsProblem('options', options, ETCD_FIELDS));
  const { endpoints, cluster, onProblem } = settingsOf(CALL, options);
  const watcher = new Watcher(new EtcdClient(CALL, endpoints), keysOf(cluster), onProblem);
  return { watch: (signal) => watcher.lists(signal) };
}

class Watcher {
  readonly #told = new Set<string>();

  constructor(
    private readonly etcd: EtcdClient,
    private readonly keys: EtcdKeys,
    private readonly onProblem: (problem: Error) => void,
  ) {}

  async *lists(signal: AbortSignal): AsyncGenerator<readonly NamedMember[]> {
    let before: string | undefined;
    let pauseMs = PAUSE_MS;
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        const { members, revision } = await this.#read(signal);
        const text = JSON.stringify(members);
        if (text !== before) yield members;
        before = text;
        await this.#changed(revision, signal);
        pauseMs = PAUSE_MS;
      } catch (error) {
        if (isOver()) return;
        if (before === undefined) throw error;
        this.#tell(error instanceof Error ? error : new Error(String(error)));
        await sleep(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<{ readonly members: readonly NamedMember[]; readonly revision: bigint }> {
    const answer = await this.etcd.ask('kv/range', { ...this.#range, limit: String(MOST_ENTRIES) }, signal);
    const { members, foreign } = membersIn(entriesIn(answer), this.keys);
    for (const key of foreign) this.#tell(notAServer(key));
    return { members, revision: revisionIn(answer) };
  }

  /** Resolves when something may have changed since a revision. */
  async #changed(revision: bigint, signal: AbortSignal): Promise<void> {
    using limit = new Limit(signal, LOOK_AGAIN_MS);
    const request = { create_request: { ...this.#range, start_revision: String(revision + 1n) } };
    try {
      for await (const { result } of this.etcd.follow('watch', request, limit.signal))
        // It says first that it watches; what it cancels is to be looked at anew.
        if (!isObject(result) || result['events'] !== undefined || result['canceled'] === true) return;
    } catch (error) {
      if (signal.aborted || !limit.signal.aborted) throw error;
    }
  }

  get #range(): object {
    const { all } = this.keys;
    return { key: toBase64(all), range_end: toBase64(behind(all)) };
  }

  #tell(problem: Error): void {
    if (this.#told.has(problem.message) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(problem.message);
    this.onProblem(problem);
  }
}

function revisionIn({ header }: Answer): bigint {
  const revision = isObject(header) ? header['revision'] : undefined;
  return typeof revision === 'string' && /^\d{1,19}$/.test(revision) ? BigInt(revision) : 0n;
}

function notAServer(key: string): VerbsError {
  const message = `what etcd has at ${JSON.stringify(key.slice(0, 200))} is no server`;
  return new VerbsError(CALL, { errno: 'EPROTO', message, advice: 'It is passed over; etcdctl del removes it' });
}
