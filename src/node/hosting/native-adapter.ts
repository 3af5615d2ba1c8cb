import { Adapter } from '../../device/adapter/index.js';
import { type AdapterFacts, DEVICE_NAME, refusalReason } from '../../providers/soft/index.js';
import { Errno } from '../../device/ibta/index.js';
import {
  codeOf,
  disturb,
  errnoNameOf,
  type Link,
  LinkError,
  type NetemSettings,
  type PolledLink,
  tap,
  type TappedLink,
} from '../../device/link/index.js';
import { CommandError, DEFAULT_LIMITS } from '../../device/nic/index.js';
import { PeerTable } from '../../device/stand-in/index.js';
import { crc32 } from '../../device/wire/index.js';
import { DgramLink, isVacant, KeptPackets, type LinkKind, openNativeLink, PcapngFile } from '../links/index.js';
import { StatisticsFile } from '../statistics/index.js';
import { nativeHostProblem, nowUs, quickestCrc32, randomU32, wallClockNs } from '../system/index.js';
import { Chores } from './chores.js';
import { clockOriginNs } from './device-clock.js';

/** What is asked of a new adapter; plain data, so that it can be asked of another thread. */
export interface AdapterSpec {
  /** Its IP address; without it a free loopback address. */
  readonly address?: string | undefined;
  readonly capture?: string | undefined;
  readonly link?: LinkKind | undefined;
  /** What is to happen to packets on their way; goes with UDP only. */
  readonly netem?: NetemSettings | undefined;
  /** As `NicLimits.minAckTimeout`. */
  readonly minAckTimeout?: number | undefined;
  /** Whether somebody is to stand in for it while its thread computes. */
  readonly standIn?: boolean | undefined;
}

/** Takes sentences about what does not work as it should. */
export type Warn = (text: string) => void;

export interface OpenedAdapter {
  readonly adapter: Adapter;
  readonly facts: AdapterFacts;
  /** To be called before a sleep: puts down what lies in memory only. */
  readonly pause: () => void;
}

/** What a stand-in needs of an adapter. */
export interface StandInParts {
  readonly kept: KeptPackets;
  readonly peers: PeerTable;
  readonly memory: SharedArrayBuffer;
}

function standInParts(): StandInParts {
  const memory = new SharedArrayBuffer(PeerTable.bytesFor(DEFAULT_LIMITS.maxQp));
  return { kept: new KeptPackets(), peers: new PeerTable(memory), memory };
}

function adapterOn(
  link: Link,
  address: string,
  spec: AdapterSpec,
  warn: Warn,
  peers: PeerTable | undefined,
): OpenedAdapter {
  // Below the capture, which thus has what the NIC sent, and what arrived in the end.
  const disturbed = withNetem(link, spec.netem);
  const tapped = withCapture(disturbed, spec.capture, warn);
  const outer = tapped ?? disturbed;
  const quickest = quickestCrc32(crc32);
  const adapter = new Adapter({
    link: outer,
    crc32: quickest.crc32,
    random: randomU32,
    isVacant,
    peers,
    limits: spec.minAckTimeout === undefined ? {} : { minAckTimeout: spec.minAckTimeout },
    chores: (nic, cm, users) => new Chores(nic, cm, users, outer, StatisticsFile.open(address, DEVICE_NAME)),
  });
  // So that others see the NIC from the beginning.
  adapter.chores?.run(nowUs());
  const facts = {
    address,
    gid: link.gid,
    maxPacketBytes: link.maxPacketBytes,
    crc32Source: quickest.source,
    clockOriginNs: clockOriginNs(),
  };
  return { adapter, facts, pause: () => tapped?.sync() };
}

function withNetem(link: Link, netem: NetemSettings | undefined): Link {
  return netem === undefined ? link : disturb(link, netem, { clockUs: nowUs, crc32: quickestCrc32(crc32).crc32 });
}

/** Has all packets recorded, when a file is named for that. */
function withCapture(link: Link, capture: string | undefined, warn: (text: string) => void): TappedLink | undefined {
  if (capture === undefined) return undefined;
  return tap(link, new PcapngFile(capture, { warn }), {
    clockNs: wallClockNs,
    crc32: quickestCrc32(crc32).crc32,
    reasonOf: refusalReason,
  });
}

/**
 * Brings an adapter up by system calls, on a UDP socket and on memory that it shares with others.
 *
 * @throws CommandError when the address or the capture file cannot be had, or there are no system calls here
 */
export function openNativeAdapter(
  spec: AdapterSpec,
  warn: Warn,
): OpenedAdapter & { readonly link: PolledLink; readonly standIn: StandInParts | undefined } {
  const { address, link: kind, capture } = spec;
  const standIn = spec.standIn === true ? standInParts() : undefined;
  const openLink = (): PolledLink =>
    openNativeLink({ address, kind, recorded: capture !== undefined, warn, kept: standIn?.kept });
  return { ...openOn(openLink, spec, warn, standIn?.peers), standIn };
}

/**
 * Brings an adapter up on a UDP socket of Node's, where there are no system calls.
 *
 * @throws CommandError when the address or the capture file cannot be had, or shared memory alone was asked for
 */
export function openDgramAdapter(spec: AdapterSpec, warn: Warn): OpenedAdapter & { readonly link: DgramLink } {
  if (spec.link === 'shm')
    throw new CommandError(
      'EOPNOTSUPP',
      `shared memory needs system calls: ${nativeHostProblem() ?? 'there are none here'}`,
    );
  return openOn(() => DgramLink.open({ address: spec.address, warn: () => warn(slowWay()) }), spec, warn);
}

/** What is lost without system calls. The link does not know that it runs in a thread of its own. */
function slowWay(): string {
  return (
    `packets go through node:dgram, because ${nativeHostProblem() ?? 'there are no system calls here'}. It works, but: ` +
    'a round trip takes some twenty times as long; only shared memory can be registered (alloc() gives such); there are ' +
    'no raw packet queue pairs; over IPv4, Soft-RoCE and real adapters drop our packets, since Node lets the kernel ' +
    'choose an IP identification that the ICRC covers; over IPv6 they understand us, but Soft-RoCE does not reach us, ' +
    'since its packets have no UDP checksum.'
  );
}

/** How long to wait for that: 50 ms in all. */
const LET_GO_ATTEMPTS = 50;
const LET_GO_WAIT_MS = 1;
const idle = new Int32Array(new SharedArrayBuffer(4));

function openOn<L extends Link & { readonly address: string }>(
  openLink: () => L,
  spec: AdapterSpec,
  warn: Warn,
  peers?: PeerTable,
): OpenedAdapter & { readonly link: L } {
  try {
    const link = spec.address === undefined ? openLink() : openWhenLetGo(openLink);
    try {
      return { ...adapterOn(link, link.address, spec, warn, peers), link };
    } catch (error) {
      link.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof LinkError) throw new CommandError(error.errno, error.message.replace(/\.$/, ''));
    // Of a system call, or of Node: no descriptor is left, for one.
    if (codeOf(error) in Errno) throw new CommandError(errnoNameOf(codeOf(error)), String(error));
    throw error;
  }
}

/**
 * Opens a link at an address that was asked for. A NIC that was closed a moment ago may still be held there: a call that
 * waits on its socket in another thread lets go of it only when it returns.
 */
function openWhenLetGo<L>(openLink: () => L): L {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openLink();
    } catch (error) {
      if (!(error instanceof LinkError && error.errno === 'EADDRINUSE') || attempt === LET_GO_ATTEMPTS) throw error;
      Atomics.wait(idle, 0, 0, LET_GO_WAIT_MS);
    }
  }
}
