import assert from 'node:assert/strict';
import { type Gid, gidFromIp, PortSpace } from '../../../ibta/index.js';
import {
  CmAttribute,
  type CmMessage,
  decodeCmMessage,
  encodeCmMessage,
  serviceId,
  writeCmaHeader,
} from '../../../wire/index.js';
import { Choices } from '../../../../../test/fuzz/random.js';
import { goldenPackets } from '../../../wire/test/golden.js';
import { decoded } from '../../../wire/test/support.js';
import { PORT } from './two-devices.js';

/** Captures of Linux's connection manager at work. */
const CAPTURES = ['rping', 'ucmatose', 'udaddy', 'cm_reject', 'rdma_client', 'rstream'] as const;
const MAD_BYTES = 256;
/** Where the fields begin that name a connection, and those that a header has. */
const NAMES_AT = 24;
const ATTRIBUTE_AT = 17;
const TRANSACTION_AT = 8;

/** Messages as Linux wrote them, each kind as often as every other. */
export const goldenMessages: readonly CmMessage[] = (() => {
  const byAttribute = new Map<number, CmMessage>();
  for (const name of CAPTURES)
    for (const { bytes } of goldenPackets(name)) {
      const packet = decoded(bytes);
      const message = packet.bth.destQp === 1 ? decodeCmMessage(packet.payload.slice()) : undefined;
      if (message !== undefined) byAttribute.set(message.attribute, message);
    }
  return [...byAttribute.values()];
})();

/** How the two ends of a connection are called on the wire. */
export interface Overheard {
  /** By the attacked side, and by its peer. */
  readonly ours: number;
  readonly theirs: number;
  /** The queue pair of the attacked side. */
  readonly qpn: number;
}

/** What somebody learns who reads what a device sends. */
export function overhear(messages: readonly CmMessage[]): Overheard[] {
  const all = new Map<number, Overheard>();
  for (const message of messages) {
    const ours = 'localCommId' in message ? message.localCommId : message.requestId;
    const theirs = 'remoteCommId' in message ? message.remoteCommId : ours ^ 0x5555;
    const qpn = 'localQpn' in message ? message.localQpn : (all.get(ours)?.qpn ?? 0);
    all.set(ours, { ours, theirs, qpn });
  }
  return [...all.values()];
}

export const strangers: readonly Gid[] = [
  ...Array.from({ length: 24 }, (_, i) => gidFromIp(`10.9.0.${i + 1}`)),
  gidFromIp('fd00::66'),
  gidFromIp('0.0.0.0'),
  gidFromIp('224.0.0.1'),
];

export class Attacker {
  constructor(
    private readonly choices: Choices,
    private readonly overheard: () => readonly Overheard[],
  ) {}

  /** Bytes to be sent from one address to another. */
  next(from: Gid, to: Gid): Uint8Array {
    const { choices } = this;
    const mad = choices.chance(10) ? this.#noise() : encodeCmMessage(this.#plausible(from, to));
    if (choices.chance(70)) this.#rename(mad);
    const mutations = choices.chance(30) ? 0 : 1 + choices.below(6);
    for (let i = 0; i < mutations; i += 1) this.#mutate(mad);
    return choices.chance(2) ? mad.subarray(0, choices.below(MAD_BYTES)) : mad;
  }

  #noise(): Uint8Array {
    return Uint8Array.from({ length: MAD_BYTES }, () => this.choices.below(256));
  }

  /** A golden message; a request is for a port of ours, and from whoever it says, so that it gets further. */
  #plausible(from: Gid, to: Gid): CmMessage {
    const { choices } = this;
    const message = choices.of(goldenMessages);
    const service = serviceId(choices.of(Object.values(PortSpace)), PORT);
    if (message.attribute !== CmAttribute.REQ && message.attribute !== CmAttribute.SIDR_REQ) return message;
    const privateData = message.privateData.slice();
    const isIpv4 = from[10] === 0xff && to[10] === 0xff;
    if (isIpv4) privateData.set(writeCmaHeader({ ipVersion: 4, sourcePort: 1, source: from, destination: to }));
    if (message.attribute === CmAttribute.SIDR_REQ)
      return { ...message, requestId: choices.u32() >>> 0, serviceId: service, privateData };
    const names = { localCommId: choices.u32() >>> 0, localQpn: choices.u32() & 0xffffff, pathMtu: 3 };
    const primaryPath = { ...message.primaryPath, localGid: from, remoteGid: to };
    return { ...message, ...names, serviceId: service, primaryPath, privateData };
  }

  /** Puts names that exist into the places where a message has them; mostly all of one connection, as a DREQ needs them. */
  #rename(mad: Uint8Array): void {
    const all = this.overheard();
    if (all.length === 0) return;
    const view = new DataView(mad.buffer, mad.byteOffset);
    const { theirs, ours, qpn } = this.choices.of(all);
    const attribute = mad[ATTRIBUTE_AT];
    const isRequest = attribute === CmAttribute.REQ || attribute === CmAttribute.SIDR_REQ;
    const first = attribute === CmAttribute.SIDR_REP ? ours : theirs;
    if (this.choices.chance(90)) view.setUint32(NAMES_AT, first);
    if (!isRequest && this.choices.chance(90)) view.setUint32(NAMES_AT + 4, ours);
    if (attribute === CmAttribute.DREQ && this.choices.chance(90)) view.setUint32(NAMES_AT + 8, qpn << 8);
  }

  #mutate(mad: Uint8Array): void {
    const { choices } = this;
    const at = choices.chance(50) ? choices.below(64) : choices.below(MAD_BYTES);
    if (choices.chance(20)) mad[ATTRIBUTE_AT] = choices.of(Object.values(CmAttribute));
    else if (choices.chance(10)) mad.fill(choices.of([0, 0xff]), at, at + choices.below(16));
    else if (choices.chance(5)) mad[TRANSACTION_AT] = choices.below(256);
    else if (choices.chance(50)) mad[at] ^= 1 << choices.below(8);
    else mad[at] = choices.below(256);
  }
}

/** Runs a property under a seed that failures name; VERBENA_SEED repeats it. */
export function withSeed(property: (choices: Choices) => void): void {
  const seed = Number(process.env['VERBENA_SEED'] ?? Date.now() & 0x7fffffff);
  try {
    property(new Choices(seed));
  } catch (error) {
    assert.fail(`VERBENA_SEED=${seed}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
