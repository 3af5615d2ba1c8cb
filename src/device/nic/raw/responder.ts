import { DropReason, Syndrome, WcOpcode, WcStatus } from '../../ibta/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import { Cqe } from '../rings/layout.js';
import { SilentResponder } from '../unreliable/silent-responder.js';

/** The responder of a raw packet QP: each frame fills one receive request, from the request's first byte on. */
export class RawResponder extends SilentResponder {
  readonly #detail = new Int32Array(Cqe.DETAIL_WORDS);

  onRequest(): void {
    this.core.counters.rxWrongTransport += 1;
  }

  override onFrame(bytes: Uint8Array, offset: number, lengthBytes: number): void {
    const { counters, mover } = this.core;
    const receive = this.receive;
    if (!receive.take()) {
      counters.rxNoReceive += 1;
      this.note(DropReason.NO_RECEIVE);
      return;
    }
    if (lengthBytes > receive.capacity) {
      // Ends the request only: a long frame from a stranger must not stop the QP.
      const detail = this.#detail;
      detail[0] = lengthBytes;
      detail[1] = receive.capacity;
      receive.complete(WcStatus.LOC_LEN_ERR, WcOpcode.RECV, 0, 0, 0, true, Syndrome.LOCAL_LENGTH, detail, 0);
      return;
    }
    const stored = receive.scatter(0, bytes, offset, lengthBytes, true);
    if (stored === CopyStatus.READY) {
      counters.rdmaRecvs += 1;
      receive.complete(WcStatus.SUCCESS, WcOpcode.RECV, lengthBytes, 0, 0, false, Syndrome.NONE, undefined, 0);
    } else if (stored === CopyStatus.FAILED) {
      // The request names memory that it may not: a local error, which ends the QP (IBTA 9.9.3, class A).
      const { syndrome, detail } = mover;
      this.qp.enterError(syndrome, { half: 'receiving', status: WcStatus.LOC_PROT_ERR, syndrome, detail });
    }
  }
}
