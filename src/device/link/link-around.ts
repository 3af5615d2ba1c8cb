import type { Gid } from '../ibta/index.js';
import type { FramePort, Link, LinkStatus, PacketReceiver, PacketSink } from './link.js';

/** A link that changes packets of another link, and leaves everything else to that link. */
export abstract class LinkAround implements Link {
  readonly gid: Gid;
  readonly ipv6: boolean;
  readonly maxPacketBytes: number;
  abstract readonly sink: PacketSink;

  constructor(protected readonly inner: Link) {
    this.gid = inner.gid;
    this.ipv6 = inner.ipv6;
    this.maxPacketBytes = inner.maxPacketBytes;
  }

  get isBroken(): boolean {
    return this.inner.isBroken === true;
  }

  abstract receive(receiver: PacketReceiver, maxPackets: number): number;

  flush(): void {
    this.inner.flush();
  }

  nextDueUs(): number {
    return this.inner.nextDueUs?.() ?? Infinity;
  }

  joinGroup(group: Gid): void {
    this.inner.joinGroup(group);
  }

  leaveGroup(group: Gid): void {
    this.inner.leaveGroup(group);
  }

  status(): LinkStatus {
    return this.inner.status();
  }

  refresh(): LinkStatus {
    return this.inner.refresh();
  }

  openFrames(): FramePort {
    return this.inner.openFrames();
  }

  close(): void {
    this.inner.close();
  }

  statistics(): Record<string, number> {
    return this.inner.statistics();
  }
}
