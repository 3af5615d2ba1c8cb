import type { PeerProblem } from '../protocol/index.js';
import { type MemoryDomain, operate } from '../uct/index.js';
import {
  AmId,
  AtomicOp,
  Heads,
  type MessageOf,
  RkeyAccess,
  type RmaPlace,
  rmaPlace,
  UcsStatus,
} from '../wire/index.js';
import { MOST_UNANSWERED } from './answers.js';
import { readWord, writeWord } from './atomic.js';
import { roomBehind, sendMessage } from './operation.js';
import { type Operation, OperationQueue } from './operation-queue.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';

const NOTHING = new Uint8Array(0);

function trespass(what: string, { rkey, offset }: RmaPlace): PeerProblem {
  const text = `${what} at ${offset} of the memory of key ${rkey}, to which the peer has no right`;
  return { status: UcsStatus.UCS_ERR_IO_ERROR, text };
}

/**
 * Does to this end's memory what a peer asks for by messages, as an adapter would: what its keys are for, and an attempt at anything else ends its endpoint. The
 * peer knows how many answers may be owed to it.
 */
export class Responder {
  readonly #answers: OperationQueue;
  readonly #domain: MemoryDomain;
  #owed = 0;

  constructor(private readonly parts: EndpointParts) {
    this.#answers = new OperationQueue(parts);
    this.#domain = parts.worker.domain;
  }

  onPut({ head, payload }: MessageOf<'PUT'>): PeerProblem | undefined {
    this.parts.worker.counters.rxPut += 1;
    const place = rmaPlace(head.address);
    const bytes = this.#domain.at(place.rkey, place.offset, payload.length, RkeyAccess.WRITE);
    if (bytes === undefined) return trespass(`a put of ${payload.length} bytes`, place);
    bytes.set(payload);
    return this.#confirm(head.epId);
  }

  onGet({ head: { address, length, requestId } }: MessageOf<'GET_REQ'>): PeerProblem | undefined {
    this.parts.worker.counters.rxGet += 1;
    const place = rmaPlace(address);
    let sentBytes = 0;
    const head = Heads.GET_REP.encode({ requestId });
    const step = (): UcsStatus => {
      const { transport } = this.parts;
      const room = roomBehind(transport, Heads.GET_REP);
      while (sentBytes < length) {
        // The memory may have been unmapped since the last part.
        const offset = place.offset + sentBytes;
        const part = this.#domain.at(place.rkey, offset, Math.min(length - sentBytes, room), RkeyAccess.READ);
        if (part === undefined) {
          this.parts.distrust(trespass(`a get of ${length} bytes`, place));
          return UcsStatus.UCS_ERR_IO_ERROR;
        }
        const status = sendMessage(transport, AmId.GET_REP, head, part);
        if (status !== UcsStatus.UCS_OK) return status;
        sentBytes += part.length;
      }
      return UcsStatus.UCS_OK;
    };
    const isThere = length > 0 && this.#domain.at(place.rkey, place.offset, length, RkeyAccess.READ) !== undefined;
    return isThere ? this.#answer({ step }) : trespass(`a get of ${length} bytes`, place);
  }

  onAtomic({ head, payload }: MessageOf<'ATOMIC_REQ'>): PeerProblem | undefined {
    this.parts.worker.counters.rxAtomic += 1;
    const { address, length, opcode, epId, requestId } = head;
    const place = rmaPlace(address);
    const word = this.#domain.at(place.rkey, place.offset, length, RkeyAccess.ATOMIC_MESSAGES);
    if (word === undefined || !this.#isAligned(place, length)) return trespass(`an atomic of ${length} bytes`, place);
    const first = readWord(payload.subarray(0, length));
    const isCswap = opcode === AtomicOp.CSWAP;
    const value = isCswap ? readWord(payload.subarray(length)) : first;
    const before = operate(word, { op: opcode, bytes: length === 4 ? 4 : 8, value, compare: isCswap ? first : 0n });
    if (requestId === 0) return this.#confirm(epId);
    const result = new Uint8Array(length);
    writeWord(result, before);
    return this.#message(AmId.ATOMIC_REP, Heads.ATOMIC_REP.encode({ requestId }), result);
  }

  #isAligned({ rkey, offset }: RmaPlace, length: number): boolean {
    const address = this.#domain.addressOf(rkey);
    return address !== undefined && (address + BigInt(offset)) % BigInt(length) === 0n;
  }

  #confirm(epId: number): PeerProblem | undefined {
    return this.#message(AmId.CMPL, Heads.CMPL.encode({ epId }), NOTHING);
  }

  #message(id: AmId, head: Uint8Array, data: Uint8Array): PeerProblem | undefined {
    return this.#answer({ step: () => sendMessage(this.parts.transport, id, head, data) });
  }

  #answer(operation: Operation): PeerProblem | undefined {
    if (this.#owed === MOST_UNANSWERED) {
      const text = `the peer has asked for more than ${MOST_UNANSWERED} answers at once`;
      return { status: UcsStatus.UCS_ERR_EXCEEDS_LIMIT, text };
    }
    this.#owed += 1;
    this.#answers.add({
      step: () => {
        const status = operation.step();
        if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.#owed -= 1;
        return status;
      },
    });
    return undefined;
  }
}
