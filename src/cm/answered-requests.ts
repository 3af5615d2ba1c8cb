import { formatGid } from '../spec/index.js';
import type { CmSidrRep, CmSidrReq } from '../wire/index.js';
import type { CmDatagram } from './host.js';

type Answer = CmSidrRep | 'waiting';

/**
 * Questions for datagram queue pairs that came not long ago, so that a repeat gets the same answer, and the program hears
 * of each question once. The oldest are forgotten first.
 */
export class AnsweredRequests {
  readonly #answers = new Map<string, Answer>();

  constructor(private readonly limit: number) {}

  /** The answer that was given; 'waiting' while there is none; undefined for a question that is new. */
  find(request: CmSidrReq, datagram: CmDatagram): Answer | undefined {
    return this.#answers.get(key(request, datagram));
  }

  add(request: CmSidrReq, datagram: CmDatagram, answer: Answer): void {
    const name = key(request, datagram);
    this.#answers.delete(name);
    this.#answers.set(name, answer);
    if (this.#answers.size <= this.limit) return;
    const [oldest] = this.#answers.keys();
    this.#answers.delete(oldest);
  }
}

const key = ({ requestId, serviceId }: CmSidrReq, { source }: CmDatagram): string =>
  `${requestId} ${serviceId} ${formatGid(source)}`;
