import type { SimulatedPacket, Verdict } from '../device/link/index.js';
import { invalid, show, VerbsError } from '../api/verbs/index.js';
import type { Capture, SimPacket } from './capture.js';
import { describeMatch, type HostNames, type Matcher, matcher, type PacketMatch } from './match.js';

/** Which packets a rule is about. Without `nth` and `first`: all that match. */
export interface RuleMatch extends PacketMatch {
  /** Only the so-many-th that matches, from 1; or several. */
  readonly nth?: number | readonly number[];
  /** Only the first so many that match. */
  readonly first?: number;
  /** Whether it may be that the rule is never met. By default that fails the simulation: the test would show nothing. */
  readonly optional?: boolean;
}

/** What a rule does to a packet; a function decides, or only looks. */
type RuleAction = Verdict | ((packet: SimPacket) => void);

const RULE_FIELDS = ['nth', 'first', 'optional'];

/** Something that is done to packets as they are sent, before chance sees them. */
export class Rule implements Disposable {
  readonly #hits: SimPacket[] = [];
  readonly #matches: Matcher;
  readonly #wanted: (count: number) => boolean;
  #count = 0;
  #active = true;

  /** `Sim.drop` and its like make rules. */
  constructor(
    /** In words. */
    readonly description: string,
    readonly action: RuleAction,
    /** Whether it may be that it is never met. */
    readonly optional: boolean,
    matches: Matcher,
    wanted: (count: number) => boolean,
  ) {
    this.#matches = matches;
    this.#wanted = wanted;
  }

  /** The packets that it was applied to, as they were when they were sent. */
  get hits(): readonly SimPacket[] {
    return this.#hits;
  }

  /** @internal Packets that fitted, whether it was their turn or not. */
  get matched(): number {
    return this.#count;
  }

  get active(): boolean {
    return this.#active;
  }

  /** Ends it: packets pass from now on. */
  remove(): void {
    this.#active = false;
  }

  /** {@link remove}. */
  [Symbol.dispose](): void {
    this.remove();
  }

  /** @internal Whether it applies to a packet that is being sent. */
  applies(packet: SimPacket): boolean {
    if (!this.#active || !this.#matches(packet)) return false;
    this.#count += 1;
    return this.#wanted(this.#count);
  }

  /** @internal */
  hit(packet: SimPacket): void {
    this.#hits.push(packet);
  }
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

function wantedOf(call: string, { nth, first }: RuleMatch): (count: number) => boolean {
  const numbers = nth === undefined || typeof nth !== 'number' ? nth : [nth];
  const wrong = [...(numbers ?? []), ...(first === undefined ? [] : [first])].find((value) => !isCount(value));
  if (wrong !== undefined)
    throw new VerbsError(call, invalid(`nth or first is ${show(wrong)}`, 'They count packets that match, from 1'));
  if (numbers !== undefined && first !== undefined)
    throw new VerbsError(call, invalid('there are both nth and first', 'Leave one of them out'));
  return (count) => numbers?.includes(count) ?? (first === undefined || count <= first);
}

function ordinals({ nth, first }: RuleMatch): string {
  if (nth !== undefined) return `number ${String(nth)} of `;
  return first === undefined ? 'every ' : `the first ${first} of `;
}

/** The rules of a network. All of them count each packet; the first that applies and does something to it decides. */
export class Rules {
  #rules: Rule[] = [];

  constructor(
    private readonly capture: Capture,
    private readonly known: HostNames,
  ) {}

  /** @throws VerbsError EINVAL for a match that makes no sense */
  add(call: string, what: string, match: RuleMatch, action: RuleAction): Rule {
    const matches = matcher(call, match, this.known, RULE_FIELDS);
    const description = `${what} ${ordinals(match)}${describeMatch(match)}`;
    const rule = new Rule(description, action, match.optional === true, matches, wantedOf(call, match));
    this.#rules.push(rule);
    return rule;
  }

  /** What becomes of a packet that is being sent. */
  judge(sent: SimulatedPacket): Verdict {
    if (!this.#rules.some(({ active }) => active)) return 'pass';
    const packet = this.capture.describe(sent);
    let verdict: Verdict = 'pass';
    for (const rule of this.#rules.filter((each) => each.applies(packet))) {
      const { action } = rule;
      if (typeof action === 'function') {
        rule.hit(packet);
        action(packet);
      } else if (verdict === 'pass') {
        rule.hit(packet);
        verdict = action;
      }
    }
    return verdict;
  }

  /** Those that were never met and should have been. */
  get unmet(): readonly Rule[] {
    return this.#rules.filter(({ hits, optional }) => hits.length === 0 && !optional);
  }
}
