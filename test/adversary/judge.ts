import type { SimulatedPacket } from '../../src/device/link/simulated/index.js';
import {
  aethOffset,
  bthPadCount,
  ICRC_BYTES,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
} from '../../src/device/wire/index.js';
import { CmEventType, QpState } from '../../src/entry/index.js';
import { VictimMemory } from './memory.js';
import { BACKLOG, FRIEND, VICTIM } from './addresses.js';
import { Testbed } from './testbed.js';

/** What an adversary may be after. */
export const GOALS = ['write', 'read', 'complete', 'end', 'make', 'close', 'disturb', 'grow'] as const;
export type Goal = (typeof GOALS)[number];

/** What each goal is, for people. */
export const goalWords: Readonly<Record<Goal, string>> = {
  write: 'change a byte of memory',
  read: 'have a byte of memory sent',
  complete: 'complete a request',
  end: 'end a connection',
  make: 'make a connection',
  close: 'close a key of others',
  disturb: 'slow a connection down, or hold one up that is being made',
  grow: 'have more kept than is stated',
};

/** Requests that an insider may leave waiting before it is taken for growth. */
const STRICT_BACKLOG = 8;

/** Notices when somebody has reached a goal. */
export class Judge {
  readonly #testbed: Testbed;
  #completions = 0;
  #notified = 0;
  #disclosed = false;
  /** What there was before strangers came. */
  readonly #identifiers: number;
  readonly #conversations: number;
  readonly #keys: readonly { readonly rkey: number; readonly pd: number; readonly qpn: number }[];

  /**
   * @param strict nobody may do anything: what a guest is entitled to counts as well, so that an insider who does it shows
   *   that it would be noticed
   */
  constructor(
    testbed: Testbed,
    private readonly strict: boolean,
  ) {
    this.#testbed = testbed;
    const { cm, nic } = testbed.adapter;
    this.#identifiers = cm.identifiers.size;
    this.#conversations = cm.directory.size + cm.answered.size;
    this.#completions = nic.counters.completions;
    this.#notified = nic.counters.rpCnpHandled;
    const { main, other, roomy, friends, guest } = testbed;
    const window = { rkey: testbed.friendsWindow, pd: testbed.mainPd };
    const ofFriends = [main, other, window].map(({ rkey, pd }) => ({
      rkey: rkey | 0,
      pd: Testbed.numberOf(pd),
      qpn: friends.rc.qp.qpNum,
    }));
    const ofGuests = [roomy.rkey, testbed.guestsWindow].map((rkey) => ({
      rkey: rkey | 0,
      pd: Testbed.numberOf(roomy.pd),
      qpn: guest.qp.qpNum,
    }));
    // A region can be closed by nobody, not even by those who have its key.
    this.#keys = strict ? [...ofFriends, ...ofGuests] : [...ofFriends, ...ofGuests.slice(0, 1)];
    testbed.cluster.network.onPacket = (packet) => {
      testbed.hear(packet);
      if (packet.from === VICTIM) this.#overhear(packet);
      return 'pass';
    };
  }

  /** What the friend once asked for may be sent to it once more. */
  replaying = false;

  /** The goals that were reached since the last look. */
  reached(): Goal[] {
    const testbed = this.#testbed;
    const goals: Goal[] = [];
    const { counters } = testbed.adapter.nic;
    const completions = counters.completions - this.#completions;
    const allowed = completions === 0 ? 0 : testbed.collect();
    if (this.#disclosed) goals.push('read');
    if (completions > (this.strict ? 0 : allowed)) goals.push('complete');
    if (this.#hasEnded() || testbed.conversations.ends) goals.push('end');
    goals.push(...this.#conversed());
    if (testbed.victimMemory.changed(this.strict)) goals.push('write');
    if (this.#isClosed()) goals.push('close');
    if (counters.rpCnpHandled !== this.#notified || testbed.conversations.moved) goals.push('disturb');
    if (this.#hasGrown()) goals.push('grow');
    return goals;
  }

  /** What comes next is looked at anew. */
  settle(): void {
    this.#testbed.renew();
    this.#completions = this.#testbed.adapter.nic.counters.completions;
    this.#notified = this.#testbed.adapter.nic.counters.rpCnpHandled;
    this.#disclosed = false;
  }

  #overhear({ bytes, to }: SimulatedPacket): void {
    const bits = opcodeBits[bytes[0]];
    if ((bits & (OpcodeBit.READ_RESPONSE | OpcodeBit.ATOMIC_ACK)) === 0) return;
    if (this.replaying && to === FRIEND) return;
    // What an atomic has read is in a header of its own, which follows the AETH.
    const isAtomic = (bits & OpcodeBit.ATOMIC_ACK) !== 0;
    const from = isAtomic ? aethOffset[bytes[0]] + 4 : opcodeHeaderBytes[bytes[0]];
    const payload = bytes.subarray(from, bytes.length - ICRC_BYTES - bthPadCount(bytes, 0));
    if (VictimMemory.discloses(payload, this.strict)) this.#disclosed = true;
  }

  #hasEnded(): boolean {
    const { friendly, guests } = this.#testbed;
    const watched = this.strict ? [...friendly, ...guests.map(({ qp }) => qp)] : friendly;
    return watched.some(({ state }) => state === QpState.ERR || state === QpState.SQE);
  }

  #conversed(): Goal[] {
    const { conversations } = this.#testbed;
    return conversations.takeNews().flatMap(({ type, id }): Goal[] => {
      if (!conversations.isFriends(id)) return [];
      return type === CmEventType.ESTABLISHED || type === CmEventType.CONNECT_RESPONSE ? ['make'] : ['end'];
    });
  }

  #isClosed(): boolean {
    const { memory } = this.#testbed.adapter.nic;
    return this.#keys.some(({ rkey, pd, qpn }) => memory.openWhole(rkey, pd, qpn, 0) === undefined);
  }

  #hasGrown(): boolean {
    const { identifiers, directory, answered, limits } = this.#testbed.adapter.cm;
    const waiting = this.strict ? STRICT_BACKLOG : 2 * BACKLOG;
    const answers = this.strict ? STRICT_BACKLOG : limits.maxAnswers;
    return (
      identifiers.size > this.#identifiers + waiting ||
      directory.size + answered.size > this.#conversations + waiting + answers
    );
  }
}
