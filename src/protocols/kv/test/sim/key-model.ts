import { type Deed, IMPOSSIBLE, isLinearizable } from '../../../../../test/support/linearizability.js';
import { check } from '../../../../../test/sim/failure.js';

/** The newest version of a key that anybody was told of by then; undefined where others need not be greater. */
interface Told {
  readonly newest: bigint | undefined;
}

/** An entry. A version that nobody was told yet is undefined. */
interface Present extends Told {
  readonly value: string;
  readonly version: bigint | undefined;
  /** Between when and when it ends, in µs: as far as is known of a server that has set it at some time while it was asked. Infinity: never. */
  readonly endsFromUs: number;
  readonly endsToUs: number;
}

/** What a key has, or since when at the earliest it has nothing, in µs. */
type KeyState = Present | (Told & { readonly goneUs: number });

/** A key that has nothing any more, which may be so from any time on. */
function gone({ newest }: KeyState): KeyState {
  return { goneUs: 0, newest };
}

/** When a deed was done, at the earliest and at the latest, in µs. */
export interface Moment {
  readonly fromUs: number;
  readonly toUs: number;
}
const WHENEVER: Moment = { fromUs: 0, toUs: Infinity };

/** What was asked about a key, and what came of it; `unknown` where nobody knows whether it was done. */
export type KeyDeed =
  | { readonly kind: 'entry'; readonly result: { readonly value: string; readonly version: bigint } | undefined }
  /** The same, of which the version was not told. */
  | { readonly kind: 'value'; readonly result: string | undefined }
  | { readonly kind: 'has'; readonly result: boolean }
  /** Of an entry that was there: its version, and the milliseconds that it has to live. */
  | { readonly kind: 'explain'; readonly result: { readonly version: bigint; readonly ttlMs: number } | undefined }
  /** Milliseconds; Infinity for ever. */
  | { readonly kind: 'ttl'; readonly result: number | undefined }
  | { readonly kind: 'touch'; readonly ttlMs: number; readonly result: boolean | 'unknown' }
  | { readonly kind: 'set'; readonly value: string; readonly ttlMs?: number; readonly result: bigint | 'unknown' }
  | {
      readonly kind: 'add';
      readonly value: string;
      readonly ttlMs?: number;
      readonly result: bigint | undefined | 'unknown';
    }
  | {
      readonly kind: 'cas';
      readonly value: string;
      readonly before: bigint;
      readonly ttlMs?: number;
      readonly result: bigint | undefined | 'unknown';
    }
  | { readonly kind: 'delete'; readonly result: boolean | 'unknown' }
  | { readonly kind: 'incr'; readonly by: bigint; readonly result: bigint | 'not a number' | 'unknown' };

/** The server's clock, in whole milliseconds from 1 on. */
function serverMs(us: number): number {
  return Math.max(1, Math.floor(us / 1000));
}

/** When something ends that is to live for so long from some moment on; 0 for ever. */
function ends(ttlMs: number, { fromUs, toUs }: Moment): Pick<Present, 'endsFromUs' | 'endsToUs'> {
  if (ttlMs === 0) return { endsFromUs: Infinity, endsToUs: Infinity };
  return { endsFromUs: (serverMs(fromUs) + ttlMs) * 1000, endsToUs: (serverMs(toUs) + ttlMs) * 1000 };
}

/** What comes of a state when a set may have been done, and its result is known or not. */
function put(
  mayBe: boolean,
  { value, ttlMs = 0, result }: Pick<Extract<KeyDeed, { kind: 'add' }>, 'value' | 'ttlMs' | 'result'>,
  state: KeyState,
  moment: Moment,
): KeyState | typeof IMPOSSIBLE {
  const { newest } = state;
  const set = { value, newest, ...ends(ttlMs, moment), version: undefined };
  if (result === 'unknown') return mayBe ? set : state;
  if ((result !== undefined) !== mayBe) return IMPOSSIBLE;
  return result === undefined ? state : told(set, result);
}

function told(entry: Present, version: bigint): Present | typeof IMPOSSIBLE {
  const { newest } = entry;
  if (entry.version !== undefined) return version === entry.version ? entry : IMPOSSIBLE;
  if (newest === undefined) return { ...entry, version };
  return version > newest ? { ...entry, version, newest: version } : IMPOSSIBLE;
}

function isPresent(state: KeyState): state is Present {
  return 'value' in state;
}

function after(deed: KeyDeed, before: KeyState, moment: Moment): KeyState | typeof IMPOSSIBLE {
  const state = at(before, deed, moment);
  if (state === IMPOSSIBLE) return IMPOSSIBLE;
  const entry = isPresent(state) ? state : undefined;
  switch (deed.kind) {
    case 'entry':
      return seen(deed.result, state);
    case 'value':
      return deed.result === entry?.value ? state : IMPOSSIBLE;
    case 'has':
      return deed.result === (entry !== undefined) ? state : IMPOSSIBLE;
    case 'explain':
      return explained(deed.result, state, moment);
    case 'ttl':
      return timed(deed.result, state, moment);
    case 'touch':
      if (deed.result !== 'unknown' && deed.result !== (entry !== undefined)) return IMPOSSIBLE;
      return entry === undefined ? state : { ...entry, ...ends(deed.ttlMs, moment) };
    case 'set':
      return put(true, deed, state, moment);
    case 'add':
      return put(entry === undefined, deed, state, moment);
    case 'cas':
      // A version that was asked for was seen before, so nobody has the one that nobody was told yet.
      return put(entry?.version === deed.before, deed, state, moment);
    case 'delete':
      if (deed.result === 'unknown') return entry === undefined ? state : gone(state);
      return deed.result === (entry !== undefined) ? (entry === undefined ? state : gone(state)) : IMPOSSIBLE;
    case 'incr':
      return added(deed.by, deed.result, state);
  }
}

/** What a key has at some moment at which it has not ended by itself, or has: that is a deed of its own. */
function at(state: KeyState, { kind }: KeyDeed, { fromUs, toUs }: Moment): KeyState | typeof IMPOSSIBLE {
  if (!isPresent(state)) return toUs < state.goneUs ? IMPOSSIBLE : state;
  // Who sets a value does not care what was there.
  if (kind === 'set' || state.endsToUs === Infinity) return state;
  if (fromUs >= state.endsToUs) return IMPOSSIBLE;
  return { ...state, endsFromUs: Math.max(state.endsFromUs, fromUs) };
}

/** An entry ends whose time has come. */
function expired(state: KeyState): KeyState | typeof IMPOSSIBLE {
  return isPresent(state) && state.endsFromUs < Infinity
    ? { goneUs: state.endsFromUs, newest: state.newest }
    : IMPOSSIBLE;
}

/** Somebody was told how long an entry has to live. */
function timed(result: number | undefined, state: KeyState, moment: Moment): KeyState | typeof IMPOSSIBLE {
  if (result === undefined || !isPresent(state))
    return (result === undefined) === !isPresent(state) ? state : IMPOSSIBLE;
  if (result === Infinity) return state.endsFromUs === Infinity ? state : IMPOSSIBLE;
  const end = ends(result, moment);
  const endsFromUs = Math.max(state.endsFromUs, end.endsFromUs);
  const endsToUs = Math.min(state.endsToUs, end.endsToUs);
  return endsFromUs <= endsToUs ? { ...state, endsFromUs, endsToUs } : IMPOSSIBLE;
}

function explained(
  result: { readonly version: bigint; readonly ttlMs: number } | undefined,
  state: KeyState,
  moment: Moment,
): KeyState | typeof IMPOSSIBLE {
  const after = timed(result?.ttlMs, state, moment);
  if (after === IMPOSSIBLE || result === undefined || !isPresent(after)) return after;
  return told(after, result.version);
}

function added(by: bigint, result: bigint | 'not a number' | 'unknown', state: KeyState): KeyState | typeof IMPOSSIBLE {
  const before = isPresent(state) ? state.value : '0';
  const sum = isNumber(before) ? BigInt(before) + by : 'not a number';
  if (result !== 'unknown' && result !== sum) return IMPOSSIBLE;
  if (sum === 'not a number') return state;
  const lives = isPresent(state) ? state : ends(0, WHENEVER);
  return { ...lives, value: String(sum), version: undefined, newest: state.newest };
}

function isNumber(text: string): boolean {
  return /^-?\d+$/.test(text);
}

function seen(
  result: { readonly value: string; readonly version: bigint } | undefined,
  state: KeyState,
): KeyState | typeof IMPOSSIBLE {
  if (result === undefined || !isPresent(state))
    return (result === undefined) === !isPresent(state) ? state : IMPOSSIBLE;
  return result.value === state.value ? told(state, result.version) : IMPOSSIBLE;
}

/** The same in a cache: the key may have been evicted just before. */
function afterInCache(deed: KeyDeed, before: KeyState, moment: Moment): KeyState | typeof IMPOSSIBLE {
  const state = after(deed, before, moment);
  return state === IMPOSSIBLE && isPresent(before) ? after(deed, gone(before), moment) : state;
}

function evicted(state: KeyState): KeyState | typeof IMPOSSIBLE {
  return isPresent(state) ? gone(state) : IMPOSSIBLE;
}

/** Whether it makes a difference to what it did, of which nobody was told, whether the key was evicted before. */
function dependsOnEviction({ kind, result }: KeyDeed): boolean {
  return (kind === 'add' || kind === 'incr') && result === 'unknown';
}

function versionGiven({ kind, result }: KeyDeed): bigint | undefined {
  return kind !== 'incr' && typeof result === 'bigint' ? result : undefined;
}

function nameOf(state: KeyState): string {
  if (!isPresent(state)) return `gone ${state.goneUs} ${state.newest}`;
  return `${state.value} ${state.version} ${state.newest} ${state.endsFromUs} ${state.endsToUs}`;
}

const READS: readonly KeyDeed['kind'][] = ['entry', 'value', 'has', 'explain', 'ttl'];

interface KeyRules {
  /** Whether entries may go at any time, as those of a cache do. Default: false. */
  readonly evicts?: boolean;
  /** Whether each version of a key is greater than those before: not where several servers give them. Default: true. */
  readonly versionsGrow?: boolean;
}

/** What all clients did to the keys of one life of a server. */
export class KeyHistories {
  readonly #byKey = new Map<string, (Deed<KeyState> & { readonly text: string })[]>();
  /** Records those that are under way, of which nobody may ever hear. */
  readonly #underWay = new Set<() => void>();
  #clock = 0;

  constructor(private readonly rules: KeyRules = {}) {}

  tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  /** Something is begun that changes a key, if it is ever carried out. @returns what is called when it has ended */
  begins(epoch: number, key: string, begun: number, deed: KeyDeed, fromUs: number): () => void {
    const record = (): void => this.record(epoch, key, begun, Infinity, deed, { fromUs, toUs: Infinity });
    this.#underWay.add(record);
    return () => this.#underWay.delete(record);
  }

  /** @param epoch of the server that was asked. @param done Infinity when nobody knows whether it was */
  record(epoch: number, key: string, begun: number, done: number, deed: KeyDeed, moment = WHENEVER): void {
    const name = `${key} of epoch ${epoch}`;
    const text = `${begun}-${done} (${moment.fromUs}-${moment.toUs} µs) ${JSON.stringify(deed, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v))}`;
    const deeds = this.#byKey.get(name) ?? [];
    const { evicts = false, versionsGrow = true } = this.rules;
    const outcome = evicts ? afterInCache : after;
    const apply: Deed<KeyState>['apply'] = (state) => outcome(deed, state, moment);
    const rank = versionsGrow ? versionGiven(deed) : undefined;
    deeds.push({ begun, done, text, apply, reads: READS.includes(deed.kind), rank });
    if (evicts && dependsOnEviction(deed))
      deeds.push({ begun, done: Infinity, text: '', apply: evicted, reads: false });
    this.#byKey.set(name, deeds);
  }

  get size(): number {
    return [...this.#byKey.values()].reduce((sum, deeds) => sum + deeds.length, 0);
  }

  /** @throws SimulationFailure when no order explains what the clients of a key were told */
  verify(): void {
    for (const record of this.#underWay) record();
    this.#underWay.clear();
    const never: KeyState = { goneUs: 0, newest: this.rules.versionsGrow === false ? undefined : 0n };
    for (const [name, deeds] of this.#byKey)
      check(
        isLinearizable(deeds, never, nameOf, expired),
        () =>
          `no order explains what was done to ${name}:\n${deeds
            .map(({ text }) => text)
            .filter(Boolean)
            .join('\n')}`,
      );
  }
}
