import { DropReason, Syndrome, WcFlags, WcOpcode, WcStatus } from '../../ibta/index.js';
import {
  bthPadCount,
  bthSolicited,
  dethOffset,
  dethQkey,
  dethSourceQp,
  getU32,
  GRH_BYTES,
  ICRC_BYTES,
  immOffset,
  opcodeHeaderBytes,
  type PacketMeta,
  writeGrhArea,
} from '../../wire/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import { SilentResponder } from '../unreliable/silent-responder.js';

/** The responder of a UD QP: each packet is a message, and fills one receive request (protocol/services.md 3.2). */
export class DatagramResponder extends SilentResponder {
  readonly #header = new Uint8Array(GRH_BYTES);

  onRequest(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const { qp, core } = this;
    const { counters } = core;
    const receive = this.receive;
    const opcode = bytes[offset];
    const deth = offset + dethOffset[opcode];
    if (dethQkey(bytes, deth) !== (qp.attr.qkey | 0)) {
      counters.rxBadQkey += 1;
      this.note(DropReason.QKEY, dethQkey(bytes, deth) >>> 0, qp.attr.qkey >>> 0);
      return;
    }
    const header = opcodeHeaderBytes[opcode];
    const payload = lengthBytes - header - ICRC_BYTES - bthPadCount(bytes, offset);
    if (payload > core.port.mtuBytes) {
      counters.rxMessageDropped += 1;
      this.note(DropReason.MTU, payload, core.port.mtuBytes);
      return;
    }
    const room = receive.nextCapacity;
    if (room < 0) {
      counters.rxNoReceive += 1;
      this.note(DropReason.NO_RECEIVE);
      return;
    }
    // Too long for its receive request: dropped, and the request waits for the next one, in a shared queue for that of any
    // QP. So IBTA 9.9.3 has it (class D: an unreliable service drops in silence), so do rxe and rdma-unit-test's
    // SendWithTooSmallRecv.
    if (GRH_BYTES + payload > room) {
      counters.rxMessageDropped += 1;
      this.note(DropReason.TOO_LONG, GRH_BYTES + payload, room);
      return;
    }
    receive.take();
    writeGrhArea(this.#header, 0, meta, lengthBytes);
    let stored = receive.scatter(0, this.#header, 0, GRH_BYTES, false);
    if (stored === CopyStatus.READY) stored = receive.scatter(GRH_BYTES, bytes, offset + header, payload, true);
    if (stored === CopyStatus.FAILED) this.#fail();
    if (stored !== CopyStatus.READY) return;
    const withImm = immOffset[opcode] !== 0;
    counters.rdmaRecvs += 1;
    receive.complete(
      WcStatus.SUCCESS,
      WcOpcode.RECV,
      GRH_BYTES + payload,
      withImm ? getU32(bytes, offset + immOffset[opcode]) : 0,
      withImm ? WcFlags.GRH | WcFlags.WITH_IMM : WcFlags.GRH,
      bthSolicited(bytes, offset) !== 0,
      Syndrome.NONE,
      undefined,
      dethSourceQp(bytes, deth),
    );
  }

  /** The receive request names memory that it may not: a local error, which ends the QP (IBTA 9.9.3, class A). */
  #fail(): void {
    const { syndrome, detail } = this.core.mover;
    this.qp.enterError(syndrome, { half: 'receiving', status: WcStatus.LOC_PROT_ERR, syndrome, detail });
  }
}
