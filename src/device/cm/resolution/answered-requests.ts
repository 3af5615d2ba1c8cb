import { type CmSidrRep, type CmSidrReq, gidKey } from '../../wire/index.js';
import type { CmDatagram } from '../host.js';

type Answer = CmSidrRep | 'waiting';

/**
 * Recent SIDR requests, so that a repeat gets the same answer, and the program hears
 * of each request once. The oldest answers are forgotten first; `CmLimits.maxPending` limits how many requests wait.
 */
export class AnsweredRequests {
  readonly #waiting = new Set<string>();
  readonly #answers = new Map<string, CmSidrRep>();

  constructor(private readonly limit: number) {}

  /** The answer that was given; 'waiting' while there is none; undefined for a new request. */
  find(request: CmSidrReq, datagram: CmDatagram): Answer | undefined {
    const name = key(request, datagram);
    return this.#waiting.has(name) ? 'waiting' : this.#answers.get(name);
  }

  get size(): number {
    return this.#waiting.size + this.#answers.size;
  }

  wait(request: CmSidrReq, datagram: CmDatagram): void {
    this.#waiting.add(key(request, datagram));
  }

  answer(request: CmSidrReq, datagram: CmDatagram, answer: CmSidrRep): void {
    const name = key(request, datagram);
    this.#waiting.delete(name);
    this.#answers.set(name, answer);
    if (this.#answers.size <= this.limit) return;
    const [oldest] = this.#answers.keys();
    this.#answers.delete(oldest);
  }
}

const key = ({ requestId, serviceId }: CmSidrReq, { source }: CmDatagram): string =>
  `${requestId} ${serviceId} ${gidKey(source)}`;
