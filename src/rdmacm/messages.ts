import type {
  Address,
  Ah,
  CompChannel,
  Cq,
  Mr,
  Pd,
  Qp,
  RegistrableMemory,
  SendSge,
  Sge,
  Srq,
  WorkCompletion,
  WrId,
} from '../verbs/index.js';
import { notYet } from './not-yet.js';

/** The helpers of `rdma_verbs.h`: messages over whatever has a queue pair. */
export abstract class Messages {
  abstract readonly pd: Pd | undefined;
  abstract readonly qp: Qp | undefined;
  abstract readonly srq: Srq | undefined;
  abstract readonly sendCq: Cq | undefined;
  abstract readonly recvCq: Cq | undefined;
  abstract readonly sendCqChannel: CompChannel | undefined;
  abstract readonly recvCqChannel: CompChannel | undefined;

  /** Registers memory for messages, access LOCAL_WRITE (`rdma_reg_msgs`). @throws VerbsError as `Pd.regMr` */
  regMsgs(memory: RegistrableMemory): Mr {
    return notYet(memory);
  }

  /** Registers memory that the peer may read (`rdma_reg_read`). @throws VerbsError as `Pd.regMr` */
  regRead(memory: RegistrableMemory): Mr {
    return notYet(memory);
  }

  /** Registers memory that the peer may write (`rdma_reg_write`). @throws VerbsError as `Pd.regMr` */
  regWrite(memory: RegistrableMemory): Mr {
    return notYet(memory);
  }

  /** Posts a receive request of one piece (`rdma_post_recv`), to the shared queue where there is one. @throws VerbsError as `Qp.postRecv` */
  postRecv(wrId: WrId, sge: Sge): void {
    notYet(wrId, sge);
  }

  /** The same with several pieces (`rdma_post_recvv`). @throws VerbsError as `Qp.postRecv` */
  postRecvv(wrId: WrId, sgList: readonly Sge[]): void {
    notYet(wrId, sgList);
  }

  /**
   * Sends a message (`rdma_post_send`).
   *
   * @param sendFlags bits of `SendFlags`; default 0
   * @throws VerbsError as `Qp.postSend`
   */
  postSend(wrId: WrId, sge: SendSge, sendFlags = 0): void {
    notYet(wrId, sge, sendFlags);
  }

  /** The same from several pieces (`rdma_post_sendv`). @throws VerbsError as `Qp.postSend` */
  postSendv(wrId: WrId, sgList: readonly SendSge[], sendFlags = 0): void {
    notYet(wrId, sgList, sendFlags);
  }

  /** Reads the peer's memory (`rdma_post_read`). @throws VerbsError as `Qp.postSend` */
  postRead(wrId: WrId, sge: Sge, sendFlags: number, remoteAddr: Address, rkey: number): void {
    notYet(wrId, sge, sendFlags, remoteAddr, rkey);
  }

  /** The same into several pieces (`rdma_post_readv`). @throws VerbsError as `Qp.postSend` */
  postReadv(wrId: WrId, sgList: readonly Sge[], sendFlags: number, remoteAddr: Address, rkey: number): void {
    notYet(wrId, sgList, sendFlags, remoteAddr, rkey);
  }

  /** Writes the peer's memory (`rdma_post_write`). @throws VerbsError as `Qp.postSend` */
  postWrite(wrId: WrId, sge: SendSge, sendFlags: number, remoteAddr: Address, rkey: number): void {
    notYet(wrId, sge, sendFlags, remoteAddr, rkey);
  }

  /** The same from several pieces (`rdma_post_writev`). @throws VerbsError as `Qp.postSend` */
  postWritev(wrId: WrId, sgList: readonly SendSge[], sendFlags: number, remoteAddr: Address, rkey: number): void {
    notYet(wrId, sgList, sendFlags, remoteAddr, rkey);
  }

  /** Sends a datagram with the Q_Key `RDMA_UDP_QKEY` (`rdma_post_ud_send`). @throws VerbsError as `Qp.postSend` */
  postUdSend(wrId: WrId, sge: SendSge, sendFlags: number, ah: Ah, remoteQpn: number): void {
    notYet(wrId, sge, sendFlags, ah, remoteQpn);
  }

  /**
   * The oldest completion of a send request (`rdma_get_send_comp`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long; EINVAL when the completion queue was not made by `createQp`: then the
   *   program that has it waits for it
   */
  getSendComp(timeoutMs?: number): WorkCompletion {
    return notYet(timeoutMs);
  }

  /** The oldest completion of a receive request (`rdma_get_recv_comp`). Otherwise as {@link getSendComp}. */
  getRecvComp(timeoutMs?: number): WorkCompletion {
    return notYet(timeoutMs);
  }

  /**
   * As {@link getSendComp}, in the event loop, which is not blocked.
   *
   * @param signal ends the wait, which then rejects with the signal's reason
   */
  nextSendComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return notYet(signal);
  }

  /** As {@link getRecvComp}, in the event loop. Otherwise as {@link nextSendComp}. */
  nextRecvComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return notYet(signal);
  }
}
