import { QpType, RDMA_UDP_QKEY, SidrStatus } from '../../ibta/index.js';
import { CmAttribute, type CmSidrRep, type CmSidrReq } from '../../wire/index.js';
import { CmError } from '../checks.js';
import type { CmAccept, CmReject } from '../command.js';
import type { Conversation } from '../connections/connection-rules.js';
import type { CmCore, WaitingRequest } from '../core.js';
import type { CmDatagram } from '../host.js';
import type { AnsweredRequests } from './answered-requests.js';

const NOTHING = new Uint8Array(0);

export function sidrReply(
  { transactionId, requestId, serviceId }: CmSidrReq,
  status: SidrStatus,
  { qpn = 0, qkey = 0, privateData = NOTHING }: { qpn?: number; qkey?: number; privateData?: Uint8Array } = {},
): CmSidrRep {
  const info = { infoLength: 0, additionalInfo: NOTHING, vendorId: 0 };
  return {
    attribute: CmAttribute.SIDR_REP,
    transactionId,
    requestId,
    status,
    ...info,
    qpn,
    serviceId,
    qkey,
    privateData,
  };
}

/** A SIDR request that the program has not answered. */
export class ResolutionRequest implements Conversation {
  #open = true;

  constructor(
    private readonly core: CmCore,
    private readonly request: CmSidrReq,
    private readonly datagram: CmDatagram,
    private readonly place: WaitingRequest,
    private readonly answered: AnsweredRequests,
  ) {}

  /** The program has taken the request, which makes room in the backlog. */
  taken(): void {
    this.place.taken();
  }

  /** @throws CmError EINVAL when it was answered before, or for a queue pair of another type than UD */
  accept({ qp, qkey = RDMA_UDP_QKEY, privateData }: CmAccept): void {
    if (qp.qpType !== QpType.UD) throw new CmError('EINVAL', 'the request is for a datagram queue pair');
    this.#answer(sidrReply(this.request, SidrStatus.SUCCESS, { qpn: qp.qpNum, qkey, privateData }));
  }

  /** @throws CmError EINVAL when it was answered before */
  reject({ privateData }: Pick<CmReject, 'privateData'>): void {
    this.#answer(sidrReply(this.request, SidrStatus.REJECT, { privateData }));
  }

  abandon(): void {
    if (this.#open) this.reject({ privateData: NOTHING });
  }

  #answer(reply: CmSidrRep): void {
    if (!this.#open) throw new CmError('EINVAL', 'the request was answered before');
    this.#open = false;
    this.place.answered();
    this.answered.answer(this.request, this.datagram, reply);
    this.core.reply(this.datagram, reply);
  }
}
