import type { CmDatagram, CmHost } from '../cm/index.js';
import { type AhAttr, type Gid, type Mtu, nodeGuid } from '../ibta/index.js';
import { CommandError, type ManagementDatagram, type Nic } from '../nic/index.js';

export class NicCmHost implements CmHost {
  readonly random: () => number;
  readonly nodeGuid: bigint;

  constructor(
    private readonly nic: Nic,
    gid: Gid,
    private readonly vacancy?: (destination: Gid) => boolean,
  ) {
    this.random = nic.random;
    this.nodeGuid = nodeGuid(gid);
  }

  get nowUs(): number {
    return this.nic.nowUs;
  }

  get timers(): Nic['timers'] {
    return this.nic.timers;
  }

  get gids(): readonly (Gid | undefined)[] {
    return this.nic.port.gids;
  }

  get mtu(): Mtu {
    return this.nic.port.mtu;
  }

  /** Has `take` called with every datagram that comes to queue pair 1. */
  receive(take: (datagram: CmDatagram) => void): void {
    this.nic.generalServices.receiver = (datagram: ManagementDatagram) => take(datagram);
  }

  isVacant(destination: Gid): boolean {
    return this.vacancy?.(destination) === true;
  }

  wayOf(qpNum: number): number | undefined {
    return this.nic.objects.qps.find(qpNum)?.peerWay;
  }

  send(to: AhAttr, mad: Uint8Array): void {
    try {
      this.nic.generalServices.send(to, mad);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      // No way leads there any more; whoever waits for an answer will notice.
      this.nic.counters.sendErr += 1;
    }
  }
}
