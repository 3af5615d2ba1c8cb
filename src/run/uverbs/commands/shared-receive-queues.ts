import { sharedReceiveRing } from '../../../providers/soft/index.js';
import { SrqAttrMask, SrqType } from '../../../device/ibta/index.js';
import { RxeRecvWqe } from '../../rings/layouts.js';
import { ProgramQueue } from '../../rings/program-queue.js';
import { ReceiveTranslation } from '../../rings/receive-translation.js';
import { type Caller, command, order } from '../command.js';
import { GUEST_LIMITS } from '../device-limits.js';
import type { EventSubject, GuestSrq } from '../guest-objects.js';
import { Refusal, requireWithin } from '../../refusal.js';
import { Structs } from '../structs.js';
import type { GuestContext } from '../guest-context.js';

const { CREATE_SRQ, CREATE_XSRQ, EVENTS, HANDLE_BEHIND, MODIFY_SRQ, QUERY_SRQ } = Structs;
const SGE_BYTES = 16;

interface SrqRequest {
  readonly userHandle: bigint;
  readonly pd: number;
  readonly maxWr: number;
  readonly maxSge: number;
  readonly srqLimit: number;
}

function checkSize({ maxWr, maxSge }: { readonly maxWr: number; readonly maxSge: number }): void {
  requireWithin('max_wr', maxWr, 1, GUEST_LIMITS.maxSrqWr);
  requireWithin('max_sge', maxSge, 0, GUEST_LIMITS.maxSrqSge);
}

function createSrq(file: GuestContext, request: SrqRequest) {
  const { userHandle, maxSge, srqLimit } = request;
  checkSize(request);
  const pd = file.pds.get(request.pd);
  const queue = new ProgramQueue(file.rings, request.maxWr, RxeRecvWqe.HEAD_BYTES + SGE_BYTES * maxSge);
  try {
    const srqContext: EventSubject = { userHandle };
    // Programs leave it uninitialised (man ibv_create_srq: irrelevant), so rxe does not check it.
    const limit = Math.min(srqLimit, queue.capacity);
    const srq = pd.createSrq({ maxWr: queue.capacity, maxSge, srqLimit: limit, srqContext });
    const receives = new ReceiveTranslation(queue, () => sharedReceiveRing(srq), maxSge);
    const handle = file.addSrq({ srq, userHandle, receives, isMoving: false });
    return {
      answer: { handle, maxWr: queue.capacity, maxSge, srqn: handle },
      driver: { ...queue.place, srqNum: handle },
      undo: () => void endSrq(file, handle),
    };
  } catch (error) {
    queue.release();
    throw error;
  }
}

function endSrq(file: GuestContext, handle: number): GuestSrq {
  const guest = file.srqs.getToEnd(handle);
  guest.srq.destroy();
  file.srqs.remove(handle);
  guest.receives.queue.release();
  return guest;
}

/** Both are checked before either takes effect, as `rxe_srq_chk_attr` does. @throws Refusal EINVAL */
function checkLimits({ srq, receives }: GuestSrq, mask: number, maxWr: number, srqLimit: number): void {
  const resizes = (mask & SrqAttrMask.MAX_WR) !== 0;
  const limits = (mask & SrqAttrMask.LIMIT) !== 0;
  const { capacity } = receives.queue;
  const { srqLimit: limit } = srq.query();
  if (resizes && limit > maxWr)
    throw new Refusal('EINVAL', `max_wr is ${maxWr}, less than the srq_limit of ${limit}. Lower srq_limit first`);
  if (limits) requireWithin('srq_limit', srqLimit, 0, resizes ? Math.min(capacity, maxWr) : capacity);
}

/** A larger or smaller queue, whose place is written into the program's memory. */
function resize(file: GuestContext, guest: GuestSrq, maxWr: number, caller: Caller, placeAddress: bigint): void {
  const { srq, receives } = guest;
  const { maxSge } = srq.query();
  checkSize({ maxWr, maxSge });
  const before = receives.queue;
  receives.pull();
  const queue = new ProgramQueue(file.rings, maxWr, RxeRecvWqe.HEAD_BYTES + SGE_BYTES * maxSge);
  try {
    caller.requireWritable(placeAddress, MODIFY_SRQ.place.bytes);
    guest.isMoving = true;
    srq.modify({ maxWr: queue.capacity });
    if (!receives.moveTo(queue))
      throw new Refusal('EINVAL', `max_wr is ${maxWr}, and more receive requests are posted than that holds`);
    caller.write(placeAddress, MODIFY_SRQ.place.encode(queue.place));
  } catch (error) {
    queue.release();
    throw error;
  } finally {
    guest.isMoving = false;
  }
  before.release();
}

export const sharedReceiveQueueCommands = [
  command({
    name: 'CREATE_SRQ',
    number: 32,
    request: CREATE_SRQ.request,
    answer: CREATE_SRQ.answer,
    driver: CREATE_SRQ.driverAnswer,
    act: createSrq,
  }),
  command({
    name: 'CREATE_XSRQ',
    number: 39,
    request: CREATE_XSRQ.request,
    answer: CREATE_SRQ.answer,
    driver: CREATE_SRQ.driverAnswer,
    act: (file, request) => {
      // An XRC domain or a completion queue that this names is looked up first, and no program has an XRC domain here.
      if (request.srqType === SrqType.XRC)
        throw new Refusal('EINVAL', 'srq_type is IBV_SRQT_XRC, and rxe has no XRC. Use IBV_SRQT_BASIC');
      if (request.srqType === SrqType.TM) file.cqs.get(request.cq);
      if (request.srqType !== SrqType.BASIC) {
        file.pds.get(request.pd);
        throw new Refusal('EOPNOTSUPP', `srq_type is ${request.srqType}. rxe has IBV_SRQT_BASIC alone`);
      }
      return createSrq(file, request);
    },
  }),
  order({
    name: 'MODIFY_SRQ',
    number: 33,
    request: MODIFY_SRQ.request,
    driverRequest: MODIFY_SRQ.driverRequest,
    act: (file, { handle, mask, maxWr, srqLimit }, caller: Caller, { placeAddress }) => {
      const guest = file.srqs.get(handle);
      checkLimits(guest, mask, maxWr, srqLimit);
      if ((mask & SrqAttrMask.MAX_WR) !== 0) resize(file, guest, maxWr, caller, placeAddress);
      if ((mask & SrqAttrMask.LIMIT) !== 0) guest.srq.modify({ srqLimit });
    },
  }),
  command({
    name: 'QUERY_SRQ',
    repeatable: true,
    number: 34,
    request: HANDLE_BEHIND,
    answer: QUERY_SRQ.answer,
    act: (file, { handle }) => {
      const { srq, receives } = file.srqs.get(handle);
      return { answer: { ...srq.query(), maxWr: receives.queue.capacity } };
    },
  }),
  command({
    name: 'DESTROY_SRQ',
    number: 35,
    request: HANDLE_BEHIND,
    answer: EVENTS,
    act: (file, { handle }) => {
      const { userHandle } = endSrq(file, handle);
      return { answer: { eventsReported: file.forgetEvents('ibv_destroy_srq', `SRQ ${handle}`, userHandle, 120) } };
    },
  }),
];
