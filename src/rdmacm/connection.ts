import type { Mr, Pd, Qp, RegistrableMemory, WorkCompletion } from '../verbs/index.js';
import type { FullAddress } from './address.js';
import type { CmId } from './cm-id.js';
import { notYet } from './not-yet.js';

/** A connection that is there: what `connect` and `ConnectionRequest.accept` give. */
export class Connection implements AsyncDisposable, Disposable {
  constructor(
    readonly id: CmId,
    readonly qp: Qp,
    readonly pd: Pd,
    /** What the peer said when it connected or accepted, with zeros at its end. */
    readonly privateData: Uint8Array,
  ) {}

  get remoteAddress(): FullAddress {
    return notYet();
  }
  get localAddress(): FullAddress {
    return notYet();
  }
  /** Resolves once the connection has ended, whoever ended it. Never rejects. */
  get closed(): Promise<void> {
    return notYet();
  }

  /** Registers memory for messages, access LOCAL_WRITE. @throws VerbsError as `Pd.regMr` */
  regMsgs(memory: RegistrableMemory): Mr {
    return notYet(memory);
  }
  /** Registers memory that the peer may read. @throws VerbsError as `Pd.regMr` */
  regRead(memory: RegistrableMemory): Mr {
    return notYet(memory);
  }
  /** Registers memory that the peer may write. @throws VerbsError as `Pd.regMr` */
  regWrite(memory: RegistrableMemory): Mr {
    return notYet(memory);
  }

  /** The next completion of a send request. Otherwise as `CmId.nextSendComp`. */
  sendComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return notYet(signal);
  }
  /** The next completion of a receive request. Otherwise as `CmId.nextRecvComp`. */
  recvComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return notYet(signal);
  }

  /**
   * Ends the connection: disconnects, waits until the peer has heard of it, but not for ever, and ends the queue pair,
   * its completion queues and the identifier. Memory regions are the program's own. Idempotent.
   */
  close(): Promise<void> {
    return notYet();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends everything at once, without waiting for the peer. */
  [Symbol.dispose](): void {
    notYet();
  }
}
