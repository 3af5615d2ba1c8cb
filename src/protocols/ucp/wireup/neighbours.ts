/** Another worker, as both ends know it. */
export interface Neighbour {
  readonly uuid: bigint;
  /** Its address as text: whoever says to be it and asks from elsewhere is not believed. */
  readonly host: string;
}

/** A call of this end that asks for a neighbour by its address, and has not ended. */
export interface OpenCall {
  /** 1 to 2^32 - 1, random. */
  readonly id: number;
  readonly to: Neighbour;
}

export interface Asking {
  readonly from: Neighbour;
  readonly call: number;
}

/** What becomes of a neighbour that asks. */
export type Verdict<C> =
  /** It is to be accepted, for a call of this end as well, or for whoever asks for it later. */
  | { readonly kind: 'accept'; readonly acceptance: Acceptance<C> }
  /** Both ask for each other, and the connection is the one that this end asks for. */
  | { readonly kind: 'crossed' }
  /** There are too many endpoints that nobody has asked for. */
  | { readonly kind: 'full' };

export interface Acceptance<C> {
  readonly asking: Asking;
  /** Whose connection it is at this end; undefined for nobody's yet. */
  call: C | undefined;
}

/** By which one of two ends is known to have precedence, at both. */
function hasPrecedence(one: Neighbour, other: Neighbour): boolean {
  return one.host === other.host ? one.uuid < other.uuid : one.host < other.host;
}

function keyOf({ uuid, host }: Neighbour): string {
  return `${uuid} ${host}`;
}

function callKey(neighbour: Neighbour, call: number): string {
  return `${keyOf(neighbour)} ${call}`;
}

class Lists<T> {
  readonly #lists = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  of(neighbour: Neighbour): readonly T[] {
    return this.#lists.get(keyOf(neighbour)) ?? [];
  }

  add(neighbour: Neighbour, what: T): void {
    const list = this.#lists.get(keyOf(neighbour));
    if (list === undefined) this.#lists.set(keyOf(neighbour), [what]);
    else list.push(what);
    this.#size += 1;
  }

  /** Nothing happens where it is not there. */
  remove(neighbour: Neighbour, what: T): void {
    const list = this.#lists.get(keyOf(neighbour));
    const at = list?.indexOf(what) ?? -1;
    if (list === undefined || at < 0) return;
    list.splice(at, 1);
    this.#size -= 1;
    if (list.length === 0) this.#lists.delete(keyOf(neighbour));
  }
}

/**
 * Which connections between workers that know each other's address are whose: a machine without a clock and without transport. Each end may ask for the other, before, after
 * or while the other does, and both are to come to have one connection for it, not two.
 *
 * An endpoint that a neighbour has asked for is kept for the next call here that asks for the neighbour. Where calls cross, the end with precedence refuses until its own have ended, and
 * the other accepts for a call of its own, and says for which, so that it is refused when it comes later.
 */
export class Neighbours<C extends OpenCall, E> {
  readonly #calls = new Lists<C>();
  readonly #accepting = new Lists<Acceptance<C>>();
  readonly #spare = new Lists<E>();
  /** Who has asked for each of these. */
  readonly #whose = new Map<E, Neighbour>();
  /** Calls of neighbours that have what they ask for, and by which endpoint of this end's. */
  readonly #answered = new Map<string, E>();
  readonly #answers = new Map<E, string>();

  /** @param most endpoints that may be kept for calls to come */
  constructor(
    private readonly own: () => Neighbour,
    private readonly most: number,
  ) {}

  /** Endpoints that neighbours have asked for, and nobody here. */
  get spare(): number {
    return this.#spare.size;
  }

  isSpare(endpoint: E): boolean {
    return this.#whose.has(endpoint);
  }

  /** Takes an endpoint that a neighbour has asked for, the oldest; undefined where there is none. */
  claim(to: Neighbour): E | undefined {
    const endpoint = this.#spare.of(to).at(0);
    if (endpoint !== undefined) this.#unspare(endpoint);
    return endpoint;
  }

  /** A call begins to ask. @returns false where a neighbour is being accepted already that it is for: it need not ask, unless {@link failed that fails} */
  begin(call: C): boolean {
    this.#calls.add(call.to, call);
    const acceptance = this.#accepting.of(call.to).find((other) => other.call === undefined);
    if (acceptance === undefined) return true;
    acceptance.call = call;
    return false;
  }

  end(call: C): void {
    this.#calls.remove(call.to, call);
    for (const acceptance of this.#accepting.of(call.to)) if (acceptance.call === call) acceptance.call = undefined;
  }

  /** A neighbour has accepted a call. @param theirs for which of its own calls the connection is as well; 0 for none */
  reached(call: C, theirs: number, endpoint: E): void {
    if (theirs === 0) return;
    const key = callKey(call.to, theirs);
    this.#answered.set(key, endpoint);
    this.#answers.set(endpoint, key);
  }

  /** A neighbour asks. What is to be accepted ends with {@link accepted} or {@link failed}. */
  asked(asking: Asking): Verdict<C> {
    const { from, call: theirs } = asking;
    if (this.#answered.has(callKey(from, theirs))) return { kind: 'crossed' };
    const call = this.#asking(from);
    // Though the neighbour may have more calls than one: which of them the connection is for that this end asks for, the neighbour decides.
    if (call !== undefined && hasPrecedence(this.own(), from)) return { kind: 'crossed' };
    if (call === undefined && this.#spare.size + this.#accepting.size >= this.most) return { kind: 'full' };
    const acceptance: Acceptance<C> = { asking, call };
    this.#accepting.add(from, acceptance);
    return { kind: 'accept', acceptance };
  }

  /** A neighbour was accepted. @returns the call that the endpoint is for; undefined where it is kept */
  accepted(acceptance: Acceptance<C>, endpoint: E): C | undefined {
    const { from } = acceptance.asking;
    this.#accepting.remove(from, acceptance);
    // One that has begun meanwhile would wait for this one.
    const whose = acceptance.call ?? this.#asking(from);
    if (whose !== undefined) return whose;
    this.#whose.set(endpoint, from);
    this.#spare.add(from, endpoint);
    return undefined;
  }

  /** It was not, for some reason. @returns the call that has to ask now; undefined for none */
  failed(acceptance: Acceptance<C>): C | undefined {
    this.#accepting.remove(acceptance.asking.from, acceptance);
    return acceptance.call;
  }

  forget(endpoint: E): void {
    const key = this.#answers.get(endpoint);
    if (key !== undefined && this.#answered.get(key) === endpoint) this.#answered.delete(key);
    this.#answers.delete(endpoint);
    this.#unspare(endpoint);
  }

  #unspare(endpoint: E): void {
    const from = this.#whose.get(endpoint);
    if (from !== undefined) this.#spare.remove(from, endpoint);
    this.#whose.delete(endpoint);
  }

  /** The oldest call that asks for a neighbour, and for which that is not being accepted. */
  #asking(to: Neighbour): C | undefined {
    const acceptances = this.#accepting.of(to);
    return this.#calls.of(to).find((call) => !acceptances.some((acceptance) => acceptance.call === call));
  }
}
