import { fieldsProblem, refuse, VerbsError } from '../../../api/verbs/index.js';
import { type KvMembership, MAX_MEMBERS, type NamedMember } from '../cluster/member.js';
import { behind, entriesIn, keysOf, type EtcdKeys, membersIn, MOST_ENTRIES, toBase64 } from './entries.js';
import { type Answer, EtcdClient, isObject, visible } from './etcd-client.js';
import { Limit, sleep } from './limit.js';
import { ETCD_FIELDS, type EtcdOptions, settingsOf } from './options.js';

const CALL = 'etcdMembership';
/** etcd is asked again that soon at most, and after longer and longer while it does not answer, or does not watch. */
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
  /** What has failed last: it is told again when it fails anew. */
  #failure = '';

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
      const begunMs = performance.now();
      let isInOrder = false;
      try {
        const { members, revision } = await this.#read(signal);
        this.#told.delete(this.#failure);
        const text = JSON.stringify(members);
        if (text !== before) yield members;
        before = text;
        isInOrder = await this.#changed(revision, signal);
      } catch (error) {
        if (isOver()) return;
        if (before === undefined) throw error;
        const failure = error instanceof Error ? error : new Error(String(error));
        this.#failure = failure.message;
        this.#tell(failure);
      }
      await sleep(Math.max(0, pauseMs - (performance.now() - begunMs)), signal);
      pauseMs = isInOrder ? PAUSE_MS : Math.min(2 * pauseMs, MOST_PAUSE_MS);
    }
  }

  async #read(signal: AbortSignal): Promise<{ readonly members: readonly NamedMember[]; readonly revision: bigint }> {
    const answer = await this.etcd.ask('kv/range', { ...this.#range, limit: String(MOST_ENTRIES) }, signal);
    const { members, count, foreign } = membersIn(entriesIn(answer), this.keys);
    for (const key of foreign) this.#tell(notAServer(key));
    if (count > members.length || answer['more'] === true) this.#tell(tooMany());
    return { members, revision: revisionIn(answer) };
  }

  /**
   * Resolves when something may have changed since a revision.
   *
   * @returns whether etcd has said so, or nothing for a long time; false where it does not watch
   */
  async #changed(revision: bigint, signal: AbortSignal): Promise<boolean> {
    using limit = new Limit(signal, LOOK_AGAIN_MS);
    const request = { create_request: { ...this.#range, start_revision: String(revision + 1n) } };
    try {
      for await (const { result } of this.etcd.follow('watch', request, limit.signal)) {
        // It says first that it watches; what it cancels is to be looked at anew.
        if (!isObject(result) || result['canceled'] === true) return false;
        if (result['events'] !== undefined) return true;
      }
    } catch (error) {
      if (signal.aborted || !limit.signal.aborted) throw error;
      return true;
    }
    return false;
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
  const message = `what etcd has at "${visible(key)}" is no server`;
  return new VerbsError(CALL, { errno: 'EPROTO', message, advice: 'It is passed over; etcdctl del removes it' });
}

function tooMany(): VerbsError {
  const message = `etcd has more servers than the ${MAX_MEMBERS} that clients can have`;
  return new VerbsError(CALL, { errno: 'EMSGSIZE', message, advice: 'The others are passed over' });
}
