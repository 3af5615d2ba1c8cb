import { RxeAtomic, RxeBind, RxeDatagram, RxeRdma, RxeRecvWqe, RxeSendWqe } from '../../rings/layouts.js';
import type { SharedMapping } from '../../../node/system/index.js';
import { AccessFlags, SendFlags, WrOpcode } from '../../../entry/index.js';
import type { Choices } from '../../../../test/fuzz/random.js';
import type { FuzzMemory } from './memory.js';

/** Words of the header of a queue (`struct rxe_queue_buf`). */
const LOG2_ELEMENT_BYTES = 0;
const INDEX_MASK = 1;
const PRODUCER = 32;
const CONSUMER = 64;
const HEADER_WORDS = 96;
const STATUS = 2;
/** What was registered lately is most likely still there. */
const RECENT = 12;
const KNOWN_STATUSES = 32;
const SGE_WORDS = 4;
const COMMON_OPCODES = [
  WrOpcode.SEND,
  WrOpcode.SEND_WITH_IMM,
  WrOpcode.RDMA_WRITE,
  WrOpcode.RDMA_WRITE,
  WrOpcode.RDMA_READ,
  WrOpcode.ATOMIC_FETCH_AND_ADD,
];
/** Of a hundred requests so many are meant well: what follows one that is not, nobody looks at. */
const WELL_MEANT_PERCENT = 85;
const OPCODES = Object.values(WrOpcode);

export interface FuzzRegion {
  readonly name: string;
  readonly lkey: number;
  readonly rkey: number;
  readonly iova: bigint;
  readonly length: bigint;
  readonly domain: string;
  /** Peers have no right to it, and its own program does not name it. */
  readonly sealed: boolean;
}

/** A place and a key that go together, or do not. */
interface Target {
  readonly at: number;
  readonly lkey: number;
  readonly rkey: number;
  readonly room: number;
}

export interface Nameable {
  readonly memory: FuzzMemory;
  readonly keys: readonly number[];
  /** Those of the queue pair's own domain, and of its peer's. */
  readonly here: readonly FuzzRegion[];
  readonly there: readonly FuzzRegion[];
  readonly qps: readonly number[];
  readonly ahs: readonly number[];
}

export class Ring {
  #completions = false;
  readonly mask: number;
  readonly elementWords: number;

  constructor(private readonly mapping: SharedMapping) {
    this.mask = mapping.words[INDEX_MASK];
    this.elementWords = 2 ** mapping.words[LOG2_ELEMENT_BYTES] / 4;
  }

  get words(): Int32Array {
    return this.mapping.words;
  }

  holdCompletions(): void {
    this.#completions = true;
  }

  /** Takes all completions, if it is a queue of such, and counts them by their status. */
  consume(statuses: Map<number, number>): void {
    if (!this.#completions) return;
    const { words, mask, elementWords } = this;
    for (let at = words[CONSUMER] & mask; at !== (words[PRODUCER] & mask); at = (at + 1) & mask) {
      const status = words[HEADER_WORDS + at * elementWords + STATUS];
      // Another status than there is comes of a lie about the index.
      const known = status >= 0 && status < KNOWN_STATUSES ? status : -1;
      statuses.set(known, (statuses.get(known) ?? 0) + 1);
    }
    words[CONSUMER] = words[PRODUCER];
  }

  get next(): number {
    return HEADER_WORDS + (this.words[PRODUCER] & this.mask) * this.elementWords;
  }

  publish(): void {
    this.words[PRODUCER] = (this.words[PRODUCER] + 1) & this.mask;
  }

  close(): void {
    this.mapping.close();
  }
}

/** Writes what does not belong there, at a place that counts or at any. */
export function corruptRing({ words }: Ring, choices: Choices): void {
  const at = choices.of([
    PRODUCER,
    CONSUMER,
    PRODUCER,
    CONSUMER,
    LOG2_ELEMENT_BYTES,
    INDEX_MASK,
    choices.below(words.length),
  ]);
  if (at < words.length) words[at] = choices.of([0, 1, -1, 0x7fffffff, choices.u32(), words[at] + 1]);
}

function pickKey(nameable: Nameable, choices: Choices): number {
  if (nameable.keys.length === 0 || choices.chance(5)) return choices.u32();
  // The latest work most often.
  const recent = nameable.keys.slice(-40);
  return choices.of(choices.chance(80) ? recent : nameable.keys) ^ (choices.chance(3) ? 1 << choices.below(32) : 0);
}

function pickTarget(nameable: Nameable, regions: readonly FuzzRegion[], choices: Choices): Target {
  const { memory } = nameable;
  if (regions.length === 0 || choices.chance(5)) {
    const one = pickKey(nameable, choices);
    return { at: memory.target(choices), lkey: one, rkey: one, room: 2000 };
  }
  const { lkey, rkey, iova, length } = choices.of(regions.slice(-RECENT));
  const room = Math.min(2000, Number(length));
  const offset = choices.below(Math.max(1, room));
  return { at: Number(iova) + offset, lkey, rkey, room: room - offset };
}

function put64(words: Int32Array, at: number, value: number): void {
  words[at] = value | 0;
  words[at + 1] = Math.floor(value / 2 ** 32) | 0;
}

function writeSges(words: Int32Array, at: number, count: number, nameable: Nameable, choices: Choices): void {
  for (let i = 0; i < Math.min(count, 3); i += 1) {
    const from = at + i * SGE_WORDS;
    const { at: address, lkey, room } = pickTarget(nameable, nameable.here, choices);
    put64(words, from, address);
    words[from + 2] = choices.chance(90) ? choices.below(Math.max(1, room)) : choices.of([0, 1, 65536, 2 ** 31, -1]);
    words[from + 3] = lkey;
  }
}

function pickCount(choices: Choices): number {
  return choices.chance(96) ? choices.below(4) : choices.of([4, 255, 256, 65535, 0x10001, -1, choices.u32()]);
}

export function postReceive(ring: Ring, nameable: Nameable, choices: Choices): void {
  const { words, next } = ring;
  const numSge = choices.chance(WELL_MEANT_PERCENT) ? 1 : pickCount(choices);
  words[next + RxeRecvWqe.NUM_SGE] = numSge;
  if (next + RxeRecvWqe.DATA + 3 * SGE_WORDS <= words.length)
    writeSges(words, next + RxeRecvWqe.DATA, numSge, nameable, choices);
  ring.publish();
}

export function postSend(ring: Ring, nameable: Nameable, choices: Choices): void {
  const { words, next } = ring;
  const wellMeant = choices.chance(WELL_MEANT_PERCENT);
  const opcode = wellMeant ? choices.of(COMMON_OPCODES) : choices.chance(80) ? choices.of(OPCODES) : choices.u32();
  words[next + RxeSendWqe.WR_ID_LO] = choices.u32();
  words[next + RxeSendWqe.OPCODE] = opcode;
  const flags = choices.below(8) | (choices.chance(80) ? SendFlags.SIGNALED : 0);
  const odd = choices.chance(60) ? flags | SendFlags.INLINE : choices.u32();
  words[next + RxeSendWqe.FLAGS] = wellMeant ? flags : odd;
  words[next + RxeSendWqe.IMM_DATA] = choices.chance(50) ? pickKey(nameable, choices) : choices.u32();
  words[next + RxeSendWqe.LENGTH] = choices.chance(90) ? choices.below(64) : choices.of([65, 304, 4096, 2 ** 31, -1]);
  const kind = next + RxeSendWqe.KIND;
  for (let i = 0; i < 8; i += 1) words[kind + i] = choices.u32();
  const { at: remote, rkey, room } = pickTarget(nameable, nameable.there, choices);
  switch (opcode) {
    case WrOpcode.ATOMIC_CMP_AND_SWP:
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      put64(words, next + RxeAtomic.REMOTE_LO, remote);
      words[next + RxeAtomic.RKEY] = rkey;
      break;
    case WrOpcode.BIND_MW:
      put64(words, next + RxeBind.ADDR_LO, remote);
      put64(words, next + RxeBind.LENGTH_LO, choices.chance(90) ? room : choices.of([0, 2 ** 40, 2 ** 52]));
      words[next + RxeBind.LKEY] = pickKey(nameable, choices);
      words[next + RxeBind.MW_RKEY] = pickKey(nameable, choices);
      words[next + RxeBind.NEW_RKEY] = pickKey(nameable, choices);
      words[next + RxeBind.ACCESS] = choices.chance(90)
        ? AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC
        : choices.u32();
      break;
    case WrOpcode.SEND:
    case WrOpcode.SEND_WITH_IMM:
      words[next + RxeDatagram.REMOTE_QPN] = nameable.qps.length > 0 ? choices.of(nameable.qps) : choices.u32();
      words[next + RxeDatagram.REMOTE_QKEY] = choices.chance(90) ? 0x11111111 : choices.u32();
      words[next + RxeDatagram.AH_NUM] =
        nameable.ahs.length > 0 && choices.chance(90) ? choices.of(nameable.ahs) : choices.u32();
      break;
    default:
      put64(words, next + RxeRdma.REMOTE_LO, remote);
      words[next + RxeRdma.RKEY] = rkey;
  }
  const numSge = wellMeant ? 1 : pickCount(choices);
  words[next + RxeSendWqe.NUM_SGE] = numSge;
  if (next + RxeSendWqe.DATA + 3 * SGE_WORDS <= words.length)
    writeSges(words, next + RxeSendWqe.DATA, numSge, nameable, choices);
  ring.publish();
}
