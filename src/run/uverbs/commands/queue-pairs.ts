import { addressHandleOf, modifyPrivileged, qpRings } from '../../../providers/soft/index.js';
import type { QpModifyAttr } from '../../../api/verbs/index.js';
import {
  ACCESS_OPTIONAL_RANGE,
  AccessFlags,
  attrFieldsOf,
  isOneOf,
  nameOf,
  type QpAttr,
  QpAttrMask,
  type QpCap,
  QpCreateFlags,
  QpState,
  QpType,
} from '../../../device/ibta/index.js';
import { Capability, hasCapability } from '../../processes/processes.js';
import { RxeRecvWqe, RxeSendWqe } from '../../rings/layouts.js';
import { ProgramQueue } from '../../rings/program-queue.js';
import { ReceiveTranslation } from '../../rings/receive-translation.js';
import { SendTranslation } from '../../rings/send-translation.js';
import { addressOf, destinationOf } from '../../structs/addresses.js';
import { type Caller, command, order } from '../command.js';
import { GUEST_LIMITS, MAX_INLINE_BYTES } from '../device-limits.js';
import type { EventSubject, GuestQp } from '../guest-objects.js';
import { Refusal, requireWithin } from '../../refusal.js';
import type { ValuesOf } from '../../../device/wire/index.js';
import { Structs } from '../structs.js';
import type { GuestContext } from '../guest-context.js';

const { CREATE_QP, CREATE_QP_EX, EVENTS, HANDLE_BEHIND, MCAST, MODIFY_QP, MODIFY_QP_EX, QUERY_QP } = Structs;
const SGE_BYTES = 16;
/** Of a queue that there is not. */
const NO_PLACE = { offset: 0n, size: 0 };

/** Types that rxe's provider has. */
const TYPES: readonly QpType[] = [QpType.RC, QpType.UC, QpType.UD];

/** `IB_QPT_DRIVER`, which rxe does not have. */
const DRIVER_TYPE = 0xff;
/** `IB_QP_ATTR_STANDARD_BITS`. */
const STANDARD_MASK = 2 * QpAttrMask.DEST_QPN - 1;
/** rxe puts so much of a PSN or a QP number on the wire, and ignores what a program has above that. */
const U24 = 0xffffff;
/** Rights of regions that mean nothing on a queue pair, and that rxe accepts there. */
const IGNORED_ACCESS = ACCESS_OPTIONAL_RANGE | AccessFlags.ON_DEMAND;

interface QpRequest extends QpCap {
  readonly userHandle: bigint;
  readonly pd: number;
  readonly sendCq: number;
  readonly recvCq: number;
  readonly srq: number;
  readonly sqSigAll: number;
  readonly qpType: number;
  readonly isSrq: number;
}

/** A queue that the queue pair does not have has no limits (`rxe_qp_chk_cap`, man ibv_create_qp). */
function checkCap({ maxSendWr, maxRecvWr, maxSendSge, maxRecvSge, maxInlineData }: QpCap, hasSrq: boolean): void {
  const { maxQpWr, maxSge } = GUEST_LIMITS;
  requireWithin('cap.max_send_wr', maxSendWr, 0, maxQpWr);
  requireWithin('cap.max_send_sge', maxSendSge, 0, maxSge);
  requireWithin('cap.max_inline_data', maxInlineData, 0, MAX_INLINE_BYTES);
  if (hasSrq) return;
  requireWithin('cap.max_recv_wr', maxRecvWr, 0, maxQpWr);
  requireWithin('cap.max_recv_sge', maxRecvSge, 0, maxSge);
}

/** What the kernel says of a type before it looks at anything else. */
function checkType(type: number, createFlags: number, tid: number): void {
  const needsRight = type === QpType.RAW_PACKET || (createFlags & QpCreateFlags.SOURCE_QPN) !== 0;
  if (needsRight && !hasCapability(tid, Capability.NET_RAW))
    throw new Refusal('EPERM', 'raw packets and a source QPN of its own need CAP_NET_RAW');
  // XRC_RECV names an XRC domain, which no program has here.
  if (type === QpType.XRC_RECV) throw new Refusal('EINVAL', 'qp_type is IBV_QPT_XRC_RECV, and rxe has no XRC');
  if (!(type === DRIVER_TYPE || isOneOf(QpType, type)))
    throw new Refusal('EINVAL', `qp_type is ${type}, which is none`);
}

function createQp(file: GuestContext, request: QpRequest, { tid }: Caller, createFlags = 0) {
  const { userHandle, isSrq, sqSigAll } = request;
  checkType(request.qpType, createFlags, tid);
  const srq = isSrq === 0 ? undefined : file.srqs.get(request.srq).srq;
  const [sendCq, recvCq] = [file.cqs.get(request.sendCq).cq, file.cqs.get(request.recvCq).cq];
  const pd = file.pds.get(request.pd);
  const qpType = TYPES.find((type) => type === request.qpType);
  if (qpType === undefined)
    throw new Refusal('EOPNOTSUPP', `qp_type is ${request.qpType}. rxe has IBV_QPT_RC, UC and UD`);
  checkCap(request, srq !== undefined);
  // The room of an entry is a power of two, and all of it may be used for inline data.
  const dataBytes = Math.max(SGE_BYTES * request.maxSendSge, request.maxInlineData);
  const elementBytes = ProgramQueue.elementBytes(RxeSendWqe.HEAD_BYTES + dataBytes);
  const sends = new ProgramQueue(file.rings, request.maxSendWr, elementBytes);
  let receives: ProgramQueue | undefined;
  try {
    if (srq === undefined)
      receives = new ProgramQueue(
        file.rings,
        request.maxRecvWr,
        RxeRecvWqe.HEAD_BYTES + SGE_BYTES * request.maxRecvSge,
      );
    const cap: QpCap = {
      maxSendWr: sends.capacity,
      maxRecvWr: receives?.capacity ?? 0,
      maxSendSge: request.maxSendSge,
      maxRecvSge: srq === undefined ? request.maxRecvSge : 0,
      maxInlineData: dataBytes,
    };
    const qp = pd.createQp({
      qpType,
      sendCq,
      recvCq,
      ...(srq === undefined ? {} : { srq }),
      cap,
      sqSigAll: sqSigAll !== 0,
      createFlags,
      qpContext: { userHandle } satisfies EventSubject,
    });
    const rings = qpRings(qp);
    const limits = { maxSge: cap.maxSendSge, maxInline: cap.maxInlineData };
    const guest: GuestQp = {
      qp,
      userHandle,
      cap,
      sqSigAll: sqSigAll !== 0,
      sends: new SendTranslation(sends, rings, limits, (number) => {
        const ah = file.ahs.find(number);
        return ah === undefined ? -1 : addressHandleOf(ah);
      }),
      receives: receives === undefined ? undefined : new ReceiveTranslation(receives, () => rings.recv, cap.maxRecvSge),
    };
    const handle = file.addQp(guest);
    return {
      answer: { handle, qpn: qp.qpNum, ...cap },
      driver: { rq: receives?.place ?? NO_PLACE, sq: sends.place },
      undo: () => void endQp(file, handle),
    };
  } catch (error) {
    sends.release();
    receives?.release();
    throw error;
  }
}

function endQp(file: GuestContext, handle: number): GuestQp {
  const guest = file.qps.getToEnd(handle);
  file.endingQp(guest);
  guest.qp.destroy();
  file.removeQp(handle);
  guest.sends.queue.release();
  guest.receives?.queue.release();
  return guest;
}

type ModifyRequest = ValuesOf<(typeof MODIFY_QP_EX)['request']>;

/** Names of the fields that have the same name here. */
function modifyAttributes(request: ModifyRequest): QpModifyAttr {
  const { dest, altDest, handle, mask, ...same } = request;
  const values: Partial<Record<keyof QpAttr, unknown>> = {
    ...same,
    rqPsn: same.rqPsn & U24,
    sqPsn: same.sqPsn & U24,
    destQpNum: same.destQpNum & U24,
    qpAccessFlags: (same.qpAccessFlags & ~IGNORED_ACCESS) >>> 0,
    ahAttr: addressOf(dest),
    altAhAttr: addressOf(altDest),
    // No sizes come with a request: a queue pair keeps those that it has.
    cap: {},
  };
  // Whatever a program writes there is checked by `modify`.
  return Object.fromEntries(attrFieldsOf(mask).map((field) => [field, values[field]]));
}

function wayOf(
  file: GuestContext,
  { handle, mask, qpState }: Pick<ModifyRequest, 'handle' | 'mask' | 'qpState'>,
): string {
  const qp = file.qps.find(handle)?.qp;
  if (qp === undefined) return '';
  const way = (mask & QpAttrMask.STATE) === 0 ? '' : `, ${nameOf(QpState, qp.state)} to ${nameOf(QpState, qpState)}`;
  return ` of QP 0x${qp.qpNum.toString(16)}${way}`;
}

function modifyQp(file: GuestContext, request: ModifyRequest, { tid }: Caller): void {
  // rxe does not limit rates either.
  const unknown = (request.mask & ~STANDARD_MASK) >>> 0;
  if (unknown !== 0)
    throw new Refusal(
      'EOPNOTSUPP',
      `attr_mask has 0x${unknown.toString(16)}: rxe knows the bits up to IBV_QP_DEST_QPN alone`,
    );
  const { qp, sends, receives } = file.qps.get(request.handle);
  // What was posted before is under way in the state before.
  receives?.pull();
  const attributes = modifyAttributes(request);
  if (attributes.qkey !== undefined && hasCapability(tid, Capability.NET_RAW)) modifyPrivileged(qp, attributes);
  else qp.modify(attributes);
  if (qp.state !== QpState.RESET) return;
  sends.reset();
  receives?.reset();
}

function ofQp(file: GuestContext, { handle }: { readonly handle: number }): string {
  return wayOf(file, { handle, mask: 0, qpState: 0 });
}

export const queuePairCommands = [
  command({
    name: 'CREATE_QP',
    number: 24,
    request: CREATE_QP.request,
    answer: CREATE_QP.answer,
    driver: CREATE_QP.driverAnswer,
    act: (file, request, caller) => createQp(file, request, caller),
  }),
  command({
    name: 'CREATE_QP_EX',
    number: 24,
    extended: true,
    request: CREATE_QP_EX.request,
    answer: CREATE_QP_EX.answer,
    driver: CREATE_QP.driverAnswer,
    act: (file, request, caller) => {
      // Work queues and their tables, which rxe does not have.
      if (request.compMask !== 0)
        throw new Refusal('EINVAL', 'comp_mask asks for work queues, which rxe does not have');
      return createQp(file, request, caller, request.createFlags);
    },
  }),
  command({
    name: 'QUERY_QP',
    subject: ofQp,
    repeatable: true,
    number: 25,
    request: HANDLE_BEHIND,
    answer: QUERY_QP.answer,
    act: (file, { handle }) => {
      const { qp, cap } = file.qps.get(handle);
      const { attr, initAttr } = qp.query();
      const { ahAttr, altAhAttr, cap: _, rateLimit, enSqdAsyncNotify, ...same } = attr;
      return {
        answer: {
          ...same,
          ...cap,
          dest: destinationOf(ahAttr),
          altDest: destinationOf(altAhAttr),
          sqSigAll: initAttr.sqSigAll === true ? 1 : 0,
        },
      };
    },
  }),
  order({
    name: 'MODIFY_QP',
    number: 26,
    request: MODIFY_QP.request,
    subject: wayOf,
    act: (file, request, caller) => modifyQp(file, { ...request, rateLimit: 0 }, caller),
  }),
  order({
    name: 'MODIFY_QP_EX',
    number: 26,
    extended: true,
    subject: wayOf,
    request: MODIFY_QP_EX.request,
    answer: MODIFY_QP_EX.answer,
    act: modifyQp,
  }),
  command({
    name: 'DESTROY_QP',
    number: 27,
    subject: ofQp,
    request: HANDLE_BEHIND,
    answer: EVENTS,
    act: (file, { handle }) => {
      const { qp, userHandle } = endQp(file, handle);
      const what = `QP 0x${qp.qpNum.toString(16)}`;
      return { answer: { eventsReported: file.forgetEvents('ibv_destroy_qp', what, userHandle, 152) } };
    },
  }),
  order({
    name: 'ATTACH_MCAST',
    number: 30,
    subject: ofQp,
    request: MCAST.request,
    act: (file, { gid, handle, mlid }) => file.qps.get(handle).qp.attachMcast(gid, mlid),
  }),
  order({
    name: 'DETACH_MCAST',
    number: 31,
    subject: ofQp,
    request: MCAST.request,
    act: (file, { gid, handle, mlid }) => file.qps.get(handle).qp.detachMcast(gid, mlid),
  }),
];
