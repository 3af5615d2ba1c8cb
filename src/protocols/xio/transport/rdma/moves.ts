import { assert, WcStatus } from '../../../../device/ibta/index.js';
import { alloc } from '../../../../api/provider/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine, Registration } from '../../../core/index.js';
import { lengthOf, type MoveOutcome } from '../../wire/index.js';
import type { InUse, Move } from '../link.js';
import type { BodyMemory } from './body-memory.js';
import { decodePlace, SEAL_BYTES } from './grants.js';
import type { Transfers } from './transfers.js';

/** Seals that are READ at a time, in memory that is registered at a time. */
const SEALS = 64;

/** What a request has failed by whose memory the peer's adapter has refused. */
const REFUSALS: readonly (WcStatus | undefined)[] = [
  WcStatus.REM_ACCESS_ERR,
  WcStatus.REM_INV_REQ_ERR,
  WcStatus.REM_OP_ERR,
];

interface SealSlot {
  readonly bytes: Uint8Array;
  readonly addr: number;
  readonly lkey: number;
  readonly length: number;
}

/** READs and WRITEs of memory that the peer has granted. */
export class Moves {
  readonly #free: SealSlot[] = [];
  readonly #registrations: Registration[] = [];

  constructor(
    private readonly engine: Engine,
    private readonly memory: BodyMemory,
    private readonly transfers: Transfers,
  ) {}

  /** @throws VerbsError ENOMEM, or when the device is gone */
  start({ isRead, place, offset, memory }: Move, onMoved: (outcome: MoveOutcome) => void): InUse {
    const { address, rkey, sealAddress, sealRkey, seal } = decodePlace(place);
    const bytes = lengthOf(memory);
    assert(bytes > 0, 'a move has bytes');
    // What the peer says of its memory may be anything: its adapter knows.
    const begin = BigInt.asUintN(64, address + BigInt(offset));
    const slot = this.#slot();
    const local = isRead ? this.memory.destination(memory) : this.memory.source(memory);
    let hasReturned = false;
    const tell = (outcome: MoveOutcome): void => {
      if (hasReturned) onMoved(outcome);
      else queueMicrotask(() => onMoved(outcome));
    };
    let isMoved = false;
    let refusal: WcStatus | undefined;
    this.transfers.start(isRead, [{ address: begin, rkey, length: bytes }], local.pieces, (isDone, status) => {
      isMoved = isDone;
      refusal = status;
      if (isDone && isRead) local.land();
      local.release();
    });
    // Behind it, in the order of the queue pair: a seal that is whole then was whole while it was done.
    this.transfers.start(true, [{ address: sealAddress, rkey: sealRkey, length: SEAL_BYTES }], [slot], (isDone) => {
      const isWhole = slot.bytes.every((byte, i) => byte === seal[i]);
      this.#free.push(slot);
      if (!isMoved) tell(REFUSALS.includes(refusal) ? 'refused' : 'lost');
      else if (!isDone) tell('lost');
      else tell(isWhole ? 'done' : 'revoked');
    });
    hasReturned = true;
    return { takeBack: () => local.takeBack() };
  }

  end(): void {
    for (const registration of this.#registrations.splice(0)) registration.release();
    this.#free.length = 0;
  }

  #slot(): SealSlot {
    const slot = this.#free.pop() ?? this.#more();
    slot.bytes.fill(0);
    return slot;
  }

  #more(): SealSlot {
    const bytes = alloc(SEALS * SEAL_BYTES);
    const registration = this.engine.registrations.local(bytes, false);
    if (registration === undefined) {
      const message = 'the device has no room for another region';
      throw new VerbsError('xio', { errno: 'ENOMEM', message, advice: '' });
    }
    this.#registrations.push(registration);
    const { lkey, addr } = registration;
    const slots = Array.from({ length: SEALS }, (_, i): SealSlot => {
      const at = i * SEAL_BYTES;
      return { bytes: bytes.subarray(at, at + SEAL_BYTES), addr: addr + at, lkey, length: SEAL_BYTES };
    });
    const [first, ...others] = slots;
    this.#free.push(...others);
    return first;
  }
}
