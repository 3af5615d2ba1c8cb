import { AccessFlags, RDMA_UDP_QKEY, WrOpcode } from '../../../device/ibta/index.js';
import {
  type Address,
  type Ah,
  type Cq,
  invalid,
  type Mr,
  type Pd,
  type Qp,
  type RegistrableMemory,
  type SendSge,
  type Sge,
  type Srq,
  VerbsError,
  type WorkCompletion,
  type WrId,
} from '../../verbs/index.js';
import type { Completions } from './completions.js';

/** The helpers of `rdma_verbs.h`: messages over the queue pair of an identifier. */
export abstract class Messages {
  /** Where memory is registered. */
  abstract readonly pd: Pd | undefined;
  /** Where requests are posted. */
  abstract readonly qp: Qp | undefined;
  /** Where receive requests are posted instead, where there is one. */
  abstract readonly srq: Srq | undefined;
  /** Where send requests complete, if it was made with the queue pair. */
  abstract readonly sendCq: Cq | undefined;
  /** Where receive requests complete, if it was made with the queue pair. */
  abstract readonly recvCq: Cq | undefined;

  protected abstract readonly sendCompletions: Completions | undefined;
  protected abstract readonly recvCompletions: Completions | undefined;

  /**
   * Registers memory for messages, access LOCAL_WRITE (`rdma_reg_msgs`).
   *
   * @throws VerbsError EINVAL for an identifier without a device; otherwise as `Pd.regMr`
   */
  regMsgs(memory: RegistrableMemory): Mr {
    return this.#register('rdma_reg_msgs', memory, AccessFlags.LOCAL_WRITE);
  }

  /** Registers memory that the peer may read (`rdma_reg_read`). @throws VerbsError as {@link regMsgs} */
  regRead(memory: RegistrableMemory): Mr {
    return this.#register('rdma_reg_read', memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
  }

  /** Registers memory that the peer may write (`rdma_reg_write`). @throws VerbsError as {@link regMsgs} */
  regWrite(memory: RegistrableMemory): Mr {
    return this.#register('rdma_reg_write', memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  }

  /**
   * Posts a receive request of one piece, to the shared queue where there is one (`rdma_post_recv`).
   *
   * @throws VerbsError EINVAL for an identifier without a queue pair; otherwise as `Qp.postRecv`
   */
  postRecv(wrId: WrId, sge: Sge): void {
    this.postRecvv(wrId, [sge]);
  }

  /** The same with several pieces (`rdma_post_recvv`). @throws VerbsError as {@link postRecv} */
  postRecvv(wrId: WrId, sgList: readonly Sge[]): void {
    const receiver = this.srq ?? this.#queuePair('rdma_post_recvv');
    receiver.postRecv({ wrId, sgList });
  }

  /**
   * Sends a message (`rdma_post_send`).
   *
   * @param sendFlags bits of `SendFlags`; default 0
   * @throws VerbsError EINVAL for an identifier without a queue pair; otherwise as `Qp.postSend`
   */
  postSend(wrId: WrId, sge: SendSge, sendFlags = 0): void {
    this.postSendv(wrId, [sge], sendFlags);
  }

  /** The same from several pieces (`rdma_post_sendv`). @throws VerbsError as {@link postSend} */
  postSendv(wrId: WrId, sgList: readonly SendSge[], sendFlags = 0): void {
    this.#queuePair('rdma_post_sendv').postSend({ opcode: WrOpcode.SEND, wrId, sgList, sendFlags });
  }

  /** Reads the peer's memory (`rdma_post_read`). @throws VerbsError as {@link postSend} */
  postRead(wrId: WrId, sge: Sge, sendFlags: number, remoteAddr: Address, rkey: number): void {
    this.postReadv(wrId, [sge], sendFlags, remoteAddr, rkey);
  }

  /** The same into several pieces (`rdma_post_readv`). @throws VerbsError as {@link postSend} */
  postReadv(wrId: WrId, sgList: readonly Sge[], sendFlags: number, remoteAddr: Address, rkey: number): void {
    const rdma = { remoteAddr, rkey };
    this.#queuePair('rdma_post_readv').postSend({ opcode: WrOpcode.RDMA_READ, wrId, sgList, sendFlags, rdma });
  }

  /** Writes the peer's memory (`rdma_post_write`). @throws VerbsError as {@link postSend} */
  postWrite(wrId: WrId, sge: SendSge, sendFlags: number, remoteAddr: Address, rkey: number): void {
    this.postWritev(wrId, [sge], sendFlags, remoteAddr, rkey);
  }

  /** The same from several pieces (`rdma_post_writev`). @throws VerbsError as {@link postSend} */
  postWritev(wrId: WrId, sgList: readonly SendSge[], sendFlags: number, remoteAddr: Address, rkey: number): void {
    const rdma = { remoteAddr, rkey };
    this.#queuePair('rdma_post_writev').postSend({ opcode: WrOpcode.RDMA_WRITE, wrId, sgList, sendFlags, rdma });
  }

  /** Sends a datagram that shows the Q_Key `RDMA_UDP_QKEY` (`rdma_post_ud_send`). @throws VerbsError as {@link postSend} */
  postUdSend(wrId: WrId, sge: SendSge, sendFlags: number, ah: Ah, remoteQpn: number): void {
    const ud = { ah, remoteQpn, remoteQkey: RDMA_UDP_QKEY };
    this.#queuePair('rdma_post_ud_send').postSend({ opcode: WrOpcode.SEND, wrId, sgList: [sge], sendFlags, ud });
  }

  /**
   * The oldest completion of a send request (`rdma_get_send_comp`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after about that long; EINVAL unless `createQp` made the completion queue: whoever gave
   *   it waits for it by its own channel
   */
  getSendComp(timeoutMs?: number): WorkCompletion {
    return completionsOf('rdma_get_send_comp', this.sendCompletions).take(timeoutMs);
  }

  /** The oldest completion of a receive request (`rdma_get_recv_comp`). Otherwise as {@link getSendComp}. */
  getRecvComp(timeoutMs?: number): WorkCompletion {
    return completionsOf('rdma_get_recv_comp', this.recvCompletions).take(timeoutMs);
  }

  /**
   * As {@link getSendComp}, in the event loop, which is not blocked. Keeps the process alive only while awaited.
   *
   * @param signal ends the wait, which then rejects with the signal's reason
   * @throws VerbsError (the promise rejects) EINVAL as there; ECANCELED when the queue pair is destroyed meanwhile
   */
  async nextSendComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return completionsOf('rdma_get_send_comp', this.sendCompletions).next(signal);
  }

  /** As {@link getRecvComp}, in the event loop. Otherwise as {@link nextSendComp}. */
  async nextRecvComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return completionsOf('rdma_get_recv_comp', this.recvCompletions).next(signal);
  }

  #register(call: string, memory: RegistrableMemory, access: number): Mr {
    if (this.pd === undefined)
      throw new VerbsError(call, invalid('the identifier has no device', 'It has one after bindAddr or resolveAddr'));
    return this.pd.regMr(memory, access);
  }

  #queuePair(call: string): Qp {
    if (this.qp === undefined) throw new VerbsError(call, invalid('the identifier has no queue pair', 'Call createQp'));
    return this.qp;
  }
}

function completionsOf(call: string, completions: Completions | undefined): Completions {
  if (completions !== undefined) return completions;
  const advice = 'createQp makes one when it is given none; wait for your own by its channel';
  throw new VerbsError(call, invalid('the identifier has no completion queue of its own', advice));
}
