import type { SimulatedNetwork, SimulatedPacket, Verdict } from '../../../../device/link/index.js';
import { bthDestQp, CmAttribute, type CmMessage, decodeCmMessage } from '../../../../device/wire/index.js';

/** Queue pair 1, where management datagrams go. */
const GSI_QPN = 1;
/** BTH and DETH, which come before the datagram. */
const HEADER_BYTES = 20;

/** Past the timeout of whoever waits for the message; and past all its repeats as well. */
export const LATE_US = 6e6;
export const STALE_US = 150e6;
/** Shorter than all repeats of a message together. */
export const CUT_US = 20e6;

/**
 * What may happen to one transmission: it is lost; comes twice at once; comes late, or much too late; comes in time and once
 * more late, or much too late; is lost with all of its kind that come after it; is lost with all that both hosts send for
 * a while, or for ever.
 */
export const FAULTS = [
  'lost',
  'doubled',
  'late',
  'stale',
  'echoed',
  'echoed stale',
  'gone',
  'cut for a while',
  'cut for good',
] as const;
export type FaultKind = (typeof FAULTS)[number];

/** One transmission of a run: the `number`-th message of its kind that a host sends, from 1. */
export interface Transmission {
  readonly from: string;
  readonly attribute: CmAttribute;
  readonly number: number;
}

export interface Fault extends Transmission {
  readonly kind: FaultKind;
}

const names: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(CmAttribute).map(([name, value]) => [value, name]),
);

export function attributeName(attribute: CmAttribute): string {
  return names[attribute];
}

export function describeFault({ kind, attribute, number, from }: Fault): string {
  return `${attributeName(attribute)} ${number} of ${from} ${kind}`;
}

/** What a script does at most with one transmission: so often it arrives at once, and so much later. */
interface Fate {
  readonly verdict: Verdict;
  readonly echoUs?: number;
  readonly arrivals: number;
}

const fates: Readonly<Record<FaultKind, Fate>> = {
  lost: { verdict: 'drop', arrivals: 0 },
  doubled: { verdict: 'duplicate', arrivals: 2 },
  late: { verdict: { delayUs: LATE_US }, arrivals: 1 },
  stale: { verdict: { delayUs: STALE_US }, arrivals: 1 },
  echoed: { verdict: 'pass', echoUs: LATE_US, arrivals: 2 },
  'echoed stale': { verdict: 'pass', echoUs: STALE_US, arrivals: 2 },
  gone: { verdict: 'drop', arrivals: 0 },
  'cut for a while': { verdict: 'drop', arrivals: 0 },
  'cut for good': { verdict: 'drop', arrivals: 0 },
};
const UNHARMED: Fate = { verdict: 'pass', arrivals: 1 };

/** The connection manager's message that a packet holds, if it holds one. */
export function messageOf({ bytes }: SimulatedPacket): CmMessage | undefined {
  return bthDestQp(bytes, 0) === GSI_QPN ? decodeCmMessage(bytes, HEADER_BYTES) : undefined;
}

/** Does what a list of faults says to the connection manager's messages of a network, and notes them all. */
export class Script {
  readonly transmissions: Transmission[] = [];
  /** Messages of each kind that arrive, or will, wherever. */
  readonly arrivals = new Map<CmAttribute, number>();
  /** Kinds of messages one of which was lost, or came late. */
  readonly harmed = new Set<CmAttribute>();
  readonly #sent = new Map<string, number>();
  /** Nothing passes before then. */
  #cutUntilUs = 0;

  constructor(
    private readonly network: SimulatedNetwork,
    private readonly faults: readonly Fault[],
  ) {
    network.onPacket = (packet) => this.#look(packet);
  }

  #look(packet: SimulatedPacket): Verdict {
    const message = messageOf(packet);
    if (message === undefined) return 'pass';
    const { attribute } = message;
    const { from } = packet;
    const key = `${attribute} ${from}`;
    const number = (this.#sent.get(key) ?? 0) + 1;
    this.#sent.set(key, number);
    this.transmissions.push({ from, attribute, number });
    const fate = this.#fateOf({ from, attribute, number });
    this.arrivals.set(attribute, (this.arrivals.get(attribute) ?? 0) + fate.arrivals);
    if (fate.verdict !== 'pass' && fate.verdict !== 'duplicate') this.harmed.add(attribute);
    if (fate.echoUs !== undefined) {
      const { to, header } = packet;
      const bytes = packet.bytes.slice();
      const { network } = this;
      network.at(network.nowUs + fate.echoUs, () => network.inject(from, to, bytes, header));
    }
    return fate.verdict;
  }

  #fateOf({ from, attribute, number }: Transmission): Fate {
    const { nowUs } = this.network;
    const fault = this.faults.find(
      (one) =>
        one.from === from &&
        one.attribute === attribute &&
        (one.kind === 'gone' ? number >= one.number : number === one.number),
    );
    if (fault?.kind === 'cut for a while') this.#cutUntilUs = Math.max(this.#cutUntilUs, nowUs + CUT_US);
    if (fault?.kind === 'cut for good') this.#cutUntilUs = Infinity;
    if (nowUs < this.#cutUntilUs) return fates.lost;
    return fault === undefined ? UNHARMED : fates[fault.kind];
  }
}
