import { type Deed, IMPOSSIBLE, isLinearizable } from '../../support/linearizability.js';
import { check } from '../failure.js';

/** What a key has; undefined for nothing. A version that nobody was told yet is undefined. */
type KeyState = { readonly value: string; readonly version: bigint | undefined } | undefined;

/** What was asked about a key, and what came of it; `unknown` where nobody knows whether it was done. */
export type KeyDeed =
  | { readonly kind: 'entry'; readonly result: { readonly value: string; readonly version: bigint } | undefined }
  | { readonly kind: 'has'; readonly result: boolean }
  | { readonly kind: 'set'; readonly value: string; readonly result: bigint | 'unknown' }
  | { readonly kind: 'add'; readonly value: string; readonly result: bigint | undefined | 'unknown' }
  | {
      readonly kind: 'cas';
      readonly value: string;
      readonly before: bigint;
      readonly result: bigint | undefined | 'unknown';
    }
  | { readonly kind: 'delete'; readonly result: boolean | 'unknown' }
  | { readonly kind: 'incr'; readonly by: bigint; readonly result: bigint | 'not a number' | 'unknown' };

/** What comes of a state when a set may have been done, and its result is known or not. */
function put(mayBe: boolean, value: string, result: bigint | undefined | 'unknown', state: KeyState) {
  if (result === 'unknown') return mayBe ? { value, version: undefined } : state;
  if ((result !== undefined) !== mayBe) return IMPOSSIBLE;
  return mayBe ? { value, version: result } : state;
}

function after(deed: KeyDeed, state: KeyState): KeyState | typeof IMPOSSIBLE {
  switch (deed.kind) {
    case 'entry':
      return seen(deed.result, state);
    case 'has':
      return deed.result === (state !== undefined) ? state : IMPOSSIBLE;
    case 'set':
      return put(true, deed.value, deed.result, state);
    case 'add':
      return put(state === undefined, deed.value, deed.result, state);
    case 'cas':
      // A version that was asked for was seen before, so nobody has the one that nobody was told yet.
      return put(state?.version === deed.before, deed.value, deed.result, state);
    case 'delete':
      if (deed.result === 'unknown') return undefined;
      return deed.result === (state !== undefined) ? undefined : IMPOSSIBLE;
    case 'incr':
      return added(deed.by, deed.result, state);
  }
}

function added(by: bigint, result: bigint | 'not a number' | 'unknown', state: KeyState): KeyState | typeof IMPOSSIBLE {
  const before = state?.value ?? '0';
  const sum = isNumber(before) ? BigInt(before) + by : 'not a number';
  if (result !== 'unknown' && result !== sum) return IMPOSSIBLE;
  return sum === 'not a number' ? state : { value: String(sum), version: undefined };
}

function isNumber(text: string): boolean {
  return /^-?\d+$/.test(text);
}

function seen(result: Exclude<KeyState, undefined> | undefined, state: KeyState): KeyState | typeof IMPOSSIBLE {
  if (result === undefined || state === undefined) return result === state ? state : IMPOSSIBLE;
  const fits = result.value === state.value && (state.version ?? result.version) === result.version;
  return fits ? result : IMPOSSIBLE;
}

/** What all clients did to the keys of one life of a server. */
export class KeyHistories {
  readonly #byKey = new Map<string, (Deed<KeyState> & { readonly text: string })[]>();
  /** Records those that are under way, of which nobody may ever hear. */
  readonly #underWay = new Set<() => void>();
  #clock = 0;

  /** The next moment. */
  tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  /** Something is begun that changes a key, if it is ever carried out. @returns what is called when it has ended */
  begins(epoch: number, key: string, begun: number, deed: KeyDeed): () => void {
    const record = (): void => this.record(epoch, key, begun, Infinity, deed);
    this.#underWay.add(record);
    return () => this.#underWay.delete(record);
  }

  /** @param epoch of the server that was asked. @param done Infinity when nobody knows whether it was */
  record(epoch: number, key: string, begun: number, done: number, deed: KeyDeed): void {
    const name = `${key} of epoch ${epoch}`;
    const text = `${begun}-${done} ${JSON.stringify(deed, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v))}`;
    const deeds = this.#byKey.get(name) ?? [];
    deeds.push({ begun, done, text, apply: (state) => after(deed, state) });
    this.#byKey.set(name, deeds);
  }

  get size(): number {
    return [...this.#byKey.values()].reduce((sum, deeds) => sum + deeds.length, 0);
  }

  /** @throws SimulationFailure when no order explains what the clients of a key were told */
  verify(): void {
    for (const record of this.#underWay) record();
    this.#underWay.clear();
    const nameOf = (state: KeyState): string => (state === undefined ? '' : `${state.value} ${state.version}`);
    for (const [name, deeds] of this.#byKey)
      check(
        isLinearizable(deeds, undefined, nameOf),
        () => `no order explains what was done to ${name}:\n${deeds.map(({ text }) => text).join('\n')}`,
      );
  }
}
