import type { SeededRandom } from '../../../../device/link/index.js';
import type { GrantedPlace, Moved, Moving } from '../../protocol/index.js';
import { type Access, gather, type MoveOutcome, PLACE_BYTES, scatter } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Clock } from './clock.js';

/** Memory that a link's other end uses when it likes. */
class Place implements GrantedPlace {
  isWhole = true;
  isReleased = false;
  readonly place: Uint8Array;

  constructor(
    readonly bytes: Uint8Array,
    readonly access: Access,
    number: number,
  ) {
    this.place = new Uint8Array(PLACE_BYTES);
    new DataView(this.place.buffer).setUint32(0, number);
  }

  revoke(): void {
    this.isWhole = false;
  }

  release(): void {
    this.isWhole = false;
    this.isReleased = true;
  }
}

/** What a link's end has under way, and what it lets the other end use: as adapters do it, with the seal that is looked at behind. */
export class RemoteMemory {
  readonly #places: Place[] = [];
  readonly #underWay = new Map<(outcome: MoveOutcome) => void, () => void>();
  #lastUs = 0;
  #hasEnded = false;
  /** An access of the other end's is refused, and the link ends by it. */
  onRefused: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly random: SeededRandom,
    private readonly delayUs: number,
  ) {}

  grant(bytes: Uint8Array, access: Access): Place {
    const place = new Place(bytes, access, this.#places.length);
    this.#places.push(place);
    return place;
  }

  /** @param cut ends the link */
  move(move: Moved, owner: RemoteMemory, onMoved: (outcome: MoveOutcome) => void, cut: () => void): Moving {
    const { isRead, place: name, offset, memory } = move;
    const own = gather(memory);
    let isTaken = false;
    const source = (): Uint8Array => (isTaken ? own : gather(memory));
    const tell = (outcome: MoveOutcome): void => {
      if (this.#underWay.delete(tell)) onMoved(outcome);
    };
    const takeBack = (): void => {
      if (isTaken) return;
      own.set(gather(memory));
      isTaken = true;
    };
    this.#underWay.set(tell, takeBack);
    const place = owner.#places[new DataView(name.buffer).getUint32(0)];
    const executedUs = Math.max(this.#lastUs, this.clock.nowUs + this.random.between(1, this.delayUs));
    const sealedUs = executedUs + this.random.between(0, this.delayUs);
    this.#lastUs = sealedUs;
    let read: Uint8Array | undefined;
    let isExecuted = false;
    this.clock.after(executedUs - this.clock.nowUs, () => {
      // What was sent may arrive when its sender has given the link up, as long as the owner has not.
      if (owner.#hasEnded) return;
      if (place.isReleased) {
        owner.onRefused?.();
        tell('refused');
        cut();
        return;
      }
      isExecuted = true;
      check(isRead ? place.access.read : place.access.write, () => 'memory is used in a way that was not granted');
      check(offset + own.length <= place.bytes.length, () => 'memory is used beyond its end');
      if (isRead) read = place.isWhole ? place.bytes.slice(offset, offset + own.length) : own.slice().fill(0xaa);
      else if (place.isWhole) place.bytes.set(source(), offset);
    });
    let isWhole: boolean | undefined;
    this.clock.after(sealedUs - this.clock.nowUs, () => {
      if (!owner.#hasEnded && isExecuted) isWhole = place.isWhole;
    });
    this.clock.after(sealedUs - this.clock.nowUs + this.random.between(1, this.delayUs), () => {
      // Nobody answers on a link that has ended there.
      if (this.#hasEnded || isWhole === undefined || !this.#underWay.has(tell)) return;
      if (read !== undefined && !isTaken) scatter(read, memory);
      tell(isWhole ? 'done' : 'revoked');
    });
    return { takeBack };
  }

  /** The link has ended: nothing is reached by it any more. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const [tell, takeBack] of [...this.#underWay]) {
      takeBack();
      tell('lost');
    }
  }
}
