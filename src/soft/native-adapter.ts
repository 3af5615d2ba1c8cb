import { createCrc32, nowUs, randomU32 } from '../host/index.js';
import { type Link, LinkError, UdpLink } from '../link/index.js';
import { CommandError } from '../nic/index.js';
import { crc32 } from '../wire/index.js';
import { Adapter } from './adapter.js';
import type { AdapterFacts } from './adapter-host.js';
import { resolveMemory } from './memory-locator.js';

/** What is asked of a new adapter; plain data, so that it can be asked of another thread. */
export interface AdapterSpec {
  /** Its IP address; without it a free loopback address. */
  readonly address?: string | undefined;
  /** File for a record of all packets. */
  readonly capture?: string | undefined;
}

/** The memory in which a driver and its adapter meet, beside the rings of the objects made later. */
export interface SharedPages {
  readonly doorbells: SharedArrayBuffer;
  readonly asyncEvents: SharedArrayBuffer;
}

/** What the adapter has to say beside its rings. */
export interface AdapterCallbacks {
  /** As `AdapterParts.onEvent`. */
  readonly onEvent: (ring: Int32Array) => void;
  /** Something does not work as it should: a sentence. */
  readonly warn: (text: string) => void;
}

/** An adapter that is up. */
export interface OpenedAdapter {
  readonly adapter: Adapter;
  readonly facts: AdapterFacts;
}

/** Puts a NIC on a link that is open. */
export function adapterOn(
  link: Link,
  address: string,
  spec: AdapterSpec,
  pages: SharedPages,
  { onEvent, warn }: AdapterCallbacks,
): OpenedAdapter {
  const tapped = withCapture(link, spec.capture, warn);
  const adapter = new Adapter({
    link: tapped,
    crc32: createCrc32(crc32),
    random: randomU32,
    ...pages,
    resolve: resolveMemory,
    onEvent,
  });
  return { adapter, facts: { address, gid: link.gid, maxPacketBytes: link.maxPacketBytes } };
}

function withCapture(link: Link, capture: string | undefined, _warn: (text: string) => void): Link {
  void capture;
  return link;
}

/**
 * Brings an adapter up on a UDP socket by system calls.
 *
 * @throws CommandError when the address or the capture file cannot be had, or there are no system calls here
 */
export function openUdpAdapter(
  spec: AdapterSpec,
  pages: SharedPages,
  callbacks: AdapterCallbacks,
): OpenedAdapter & { readonly fd: number } {
  try {
    const link = UdpLink.open({ address: spec.address });
    try {
      return { ...adapterOn(link, link.address, spec, pages, callbacks), fd: link.fd };
    } catch (error) {
      link.close();
      throw error;
    }
  } catch (error) {
    throw asCommandError(error);
  }
}

/** What links say, as what commands say. */
export function asCommandError(error: unknown): unknown {
  return error instanceof LinkError ? new CommandError(error.errno, error.message) : error;
}

/** The clock of every adapter on a real link. */
export const adapterClockUs = nowUs;
