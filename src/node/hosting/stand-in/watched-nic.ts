import { StandIn, Verdict } from '../../../device/stand-in/index.js';
import { crc32, ROCE_PORT } from '../../../device/wire/index.js';
import { KeptPackets, UdpArrivals, UdpReceiver } from '../../links/index.js';
import {
  NativeBlock,
  nowUs,
  PollSet,
  SOCKADDR_BYTES,
  sockaddrLength,
  UdpSocket,
  writeSockaddr,
} from '../../system/index.js';
import type { WatchedStart } from './stand-in-protocol.js';

/** A NIC stands still when it has taken no turn for so long though packets wait for it. */
const STALL_US = 20_000;
/** A NIC that has taken no turn for so long, and for which nothing waits, is looked at rarely. */
const REST_US = 200_000;
/** Packets taken by one call, before the NIC is asked whether it wants the socket back. */
const BATCH = 64;
/** In one look. Peers send again what stays in the socket. */
const MAX_PACKETS = 4096;

/** A NIC of another thread, as its stand-in sees it. */
export class WatchedNic {
  /** Whether the stand-in answers for it. */
  isStill = false;
  /** Whether it takes no turns because nothing happens. */
  isResting = false;
  readonly #kept: KeptPackets;
  readonly #socket: UdpSocket;
  readonly #arrivals: UdpArrivals;
  readonly #receiver: UdpReceiver;
  readonly #poll: PollSet;
  readonly #standIn: StandIn;
  readonly #name = new NativeBlock(SOCKADDR_BYTES);
  readonly #packet = new NativeBlock(512);
  /** The beat that was seen last, and since when packets wait while it stays the same. */
  #beats = 0;
  #beatsSinceUs = 0;
  #waitingSinceUs = -1;

  constructor(private readonly start: WatchedStart) {
    const { kept, peers, fd, ipv6, gid } = start;
    this.#kept = new KeptPackets(kept);
    this.#socket = new UdpSocket(ipv6, fd);
    this.#arrivals = new UdpArrivals(ipv6, true);
    this.#receiver = new UdpReceiver(this.#socket, this.#arrivals, gid, false);
    this.#poll = new PollSet([fd]);
    // To find and check a quicker checksum takes longer than this thread ever computes any.
    this.#standIn = new StandIn(new Int32Array(peers), crc32, (to, bytes, length) => this.#send(to, bytes, length));
    this.#beats = this.#kept.beats;
    this.#beatsSinceUs = nowUs();
  }

  /** Looks whether the NIC stands still, and answers for it then. To be called every few ms. */
  look(): void {
    const kept = this.#kept;
    const now = nowUs();
    const { beats } = kept;
    if (beats !== this.#beats) {
      this.#beats = beats;
      this.#beatsSinceUs = now;
      this.#waitingSinceUs = -1;
      this.isStill = false;
      this.isResting = false;
      return;
    }
    if (kept.isClosed) return;
    if (!this.isStill) {
      // A NIC that sleeps takes no turn, either, and wakes as soon as something arrives.
      if (this.#poll.wait(0) === 0) {
        this.#waitingSinceUs = -1;
        if (now - this.#beatsSinceUs >= REST_US) {
          this.isResting = true;
          kept.rest();
        }
        return;
      }
      this.isResting = false;
      if (this.#waitingSinceUs < 0) this.#waitingSinceUs = now;
      if (now - this.#waitingSinceUs < STALL_US) return;
      this.isStill = true;
      this.#standIn.begin();
    }
    if (!kept.take(beats)) return;
    try {
      this.#serve();
    } finally {
      kept.release();
    }
  }

  #serve(): void {
    const kept = this.#kept;
    const arrivals = this.#arrivals;
    const wakesBefore = arrivals.wakes;
    let packets = 0;
    for (let more = true; more && packets < MAX_PACKETS && !kept.isWanted;) {
      const took = this.#receiver.receive(this.#taker, BATCH);
      packets += took;
      // A call may have brought nothing but a datagram that only wakes.
      more = took > 0 || this.#poll.wait(0) > 0;
    }
    this.#standIn.finish(nowUs());
    const { rnrNaks, mras } = this.#standIn;
    kept.count(rnrNaks, mras);
    // The event loop of the NIC's thread wakes when the socket is readable, and these datagrams are no longer there.
    if (arrivals.wakes > wakesBefore || !kept.isEmpty) this.#wake();
  }

  readonly #taker = {
    receive: (...[bytes, offset, lengthBytes, meta]: Parameters<KeptPackets['keep']>): void => {
      if (this.#standIn.take(bytes, offset, lengthBytes, meta, nowUs()) === Verdict.KEEP)
        this.#kept.keep(bytes, offset, lengthBytes, meta);
    },
  };

  #send(to: Uint8Array, bytes: Uint8Array, lengthBytes: number): void {
    this.#packet.bytes.set(bytes.subarray(0, lengthBytes));
    this.#sendTo(to, lengthBytes);
  }

  /** Sends an empty datagram to the NIC itself. */
  #wake(): void {
    this.#sendTo(this.start.gid, 0);
  }

  #sendTo(ip: Uint8Array, lengthBytes: number): void {
    const { ipv6, scopeId, fd } = this.start;
    const name = this.#name;
    writeSockaddr(name.bytes, 0, ipv6, { ip, port: ROCE_PORT, scopeId });
    this.#socket.native.libc.sendto(fd, this.#packet.address, lengthBytes, 0, name.address, sockaddrLength(ipv6));
  }
}
