import { Engine } from '../../../core/index.js';
import type { LinkOptions } from '../../transport/index.js';
import type { StreamFollower } from '../../transport/tcp/byte-stream.js';
import { TcpLink } from '../../transport/tcp/tcp-link.js';
import { type FrameKind, PREFIX_BYTES, writePrefix } from '../../transport/tcp/wire.js';
import type { Sim } from '../../../../entry/sim.js';
import { LinkEnd } from './link-end.js';
import { connectedStreams, type SimulatedStream, type StreamConditions } from './simulated-stream.js';
import { OPTIONS } from './worlds.js';

/** A peer that says whatever a test has it say. */
export class RawPeer implements StreamFollower {
  readonly heard: Uint8Array[] = [];
  readonly ends: ('end' | 'reset' | 'close')[] = [];

  constructor(readonly stream: SimulatedStream) {
    stream.follow(this);
    stream.setReading(true);
  }

  get heardBytes(): Uint8Array {
    return Buffer.concat(this.heard);
  }

  say(...bytes: readonly Uint8Array[]): void {
    this.stream.write(Buffer.concat(bytes));
  }

  onBytes(bytes: Uint8Array): void {
    this.heard.push(bytes);
  }

  onSent(): void {
    // It does not care.
  }

  onEnd(): void {
    this.ends.push('end');
  }

  onClose(error: Error | undefined): void {
    this.ends.push(error === undefined ? 'close' : 'reset');
  }
}

/** A link of ours whose peer is raw; they have said hello. */
export function facingRawPeer(
  sim: Sim,
  options: Partial<LinkOptions> = {},
  conditions: StreamConditions = {},
): { readonly end: LinkEnd; readonly peer: RawPeer; readonly link: TcpLink } {
  const clock = Engine.of(sim.host(`host ${sim.hosts.length}`).context);
  const [ours, theirs] = connectedStreams([clock, clock], conditions);
  const peer = new RawPeer(theirs);
  const link = new TcpLink(ours, { ...OPTIONS, ...options }, OPTIONS.maxBodyBytes, clock, new Uint8Array(0));
  const end = new LinkEnd(link);
  link.open(end);
  return { end, peer, link };
}

/** A frame as it is said. The lengths may be other than true. */
export function frame(
  kind: FrameKind,
  head: Uint8Array,
  body: Uint8Array,
  { headBytes = head.length, bodyBytes = body.length } = {},
): Uint8Array {
  const bytes = new Uint8Array(PREFIX_BYTES + head.length + body.length);
  writePrefix(bytes, 0, kind, headBytes, bodyBytes);
  bytes.set(head, PREFIX_BYTES);
  bytes.set(body, PREFIX_BYTES + head.length);
  return bytes;
}
