import { psnAdd, SendFlags, Syndrome, WcStatus } from '../../ibta/index.js';
import { dethOffset, immOffset, OpcodeService, type Path, putU32, writeDeth } from '../../wire/index.js';
import type { NicCore } from '../nic-core.js';
import type { PacketOrigin } from '../port/packet-builder.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { opcodeClass, requestKinds } from '../queue-pairs/request-kinds.js';
import { TransmitResult } from '../queue-pairs/turns.js';
import { SendWqe } from '../rings/layout.js';
import { SinglePacketRequester } from '../unreliable/single-packet-requester.js';

const kinds = requestKinds(opcodeClass(OpcodeService.UD));

/** What a datagram carries of where it comes from and goes to: each has a way of its own. */
class DatagramOrigin implements PacketOrigin {
  path: Path;
  destQpn = 0;
  pkey = 0;

  constructor(qp: QpContext) {
    this.path = qp.path;
  }
}

/** The requester of a UD QP: each request is one packet, along the way that its address handle names (protocol/services.md 3.2). */
export class DatagramRequester extends SinglePacketRequester {
  readonly #origin: DatagramOrigin;
  #psn = 0;

  constructor(qp: QpContext, core: NicCore) {
    super(qp, core, kinds);
    this.#origin = new DatagramOrigin(qp);
  }

  override start(): void {
    this.#psn = this.qp.attr.sqPsn;
    super.start();
  }

  protected send(entry: number): TransmitResult {
    const { qp, core } = this;
    const { words } = qp.sq;
    const { builder } = core;
    const { queue } = this;
    const origin = this.#origin;
    const control = words[entry + SendWqe.CONTROL];
    const kind = kinds[control & 0xff];
    if (kind === undefined) {
      queue.refuse(entry);
      return TransmitResult.IDLE;
    }
    const handle = words[entry + SendWqe.ADDRESS_HANDLE];
    const address = core.addresses.find(handle);
    // IBTA 11.4.1.1: the address handle belongs to the domain of the QP.
    if (address?.pd !== qp.pd) {
      queue.failWith(WcStatus.LOC_QP_OP_ERR, Syndrome.LOCAL_AH_UNKNOWN, handle, 0);
      return TransmitResult.IDLE;
    }
    if (!queue.measure(entry, core.port.mtuBytes)) return TransmitResult.IDLE;
    if (!queue.mayLeave()) return TransmitResult.IDLE;
    const opcode = kind.only;
    const length = queue.lengthBytes;
    origin.path = address.path;
    origin.destQpn = words[entry + SendWqe.REMOTE_QPN];
    origin.pkey = qp.pkey;
    const solicited = (control & (SendFlags.SOLICITED << 8)) !== 0;
    if (!builder.open(origin, opcode, this.#psn, length, solicited, false)) return TransmitResult.BLOCKED;
    // A Q_Key with the top bit set stands for the QP's own, which a program cannot name itself (protocol/packets.md 1.5).
    const remoteQkey = words[entry + SendWqe.REMOTE_QKEY];
    const qkey = remoteQkey < 0 ? qp.attr.qkey : remoteQkey;
    writeDeth(builder.bytes, builder.offset + dethOffset[opcode], qkey, qp.qpn);
    if (immOffset[opcode] !== 0)
      putU32(builder.bytes, builder.offset + immOffset[opcode], words[entry + SendWqe.IMM_DATA]);
    if (!queue.gather(entry, 0, builder.bytes, builder.payload, length)) return TransmitResult.IDLE;
    builder.close();
    queue.spendPacket(address.path.ipv6, opcode, length);
    this.#psn = psnAdd(this.#psn, 1);
    queue.succeed(length);
    return TransmitResult.MORE;
  }
}
