import type { SizeRange } from '../protocol/index.js';
import { type AtomicName, atomicNames } from '../rma/rma-end.js';
import type { Capabilities, EndAddress, Way } from '../uct/index.js';

/** What a transport does, and how much of it at a time: bytes of the longest, 0 for what it does not do at all. */
export interface UcpCapabilities extends Omit<Capabilities, 'atomics'> {
  /** Those of the transport itself, by the bytes of the word. By messages there are all. */
  readonly atomics: { readonly 4: readonly AtomicName[]; readonly 8: readonly AtomicName[] };
}

/** What an endpoint is. */
export interface UcpEndpointAttributes extends Way {
  /** What its transport does. */
  readonly capabilities: UcpCapabilities;
  /** By which protocols messages go to tags: all lengths, without gaps. */
  readonly tagProtocols: readonly SizeRange[];
}

export function wayText({ transport, localAddress, remoteAddress }: Way): string {
  if (localAddress === undefined || remoteAddress === undefined) return `by ${transport}`;
  return `by ${transport} from ${addressText(localAddress)} to ${addressText(remoteAddress)}`;
}

function addressText({ host, port }: EndAddress): string {
  return port === undefined ? host : `${host} port ${port}`;
}

export function attributesOf(
  { transport, localAddress, remoteAddress }: Way,
  { am, put, get, atomics }: Capabilities,
  tagProtocols: readonly SizeRange[],
): UcpEndpointAttributes {
  const named = { 4: atomicNames(atomics[4]), 8: atomicNames(atomics[8]) };
  return {
    transport,
    ...(localAddress !== undefined && { localAddress }),
    ...(remoteAddress !== undefined && { remoteAddress }),
    capabilities: { am: { ...am }, put: { ...put }, get: { ...get }, atomics: named },
    tagProtocols: tagProtocols.map((range) => ({ ...range })),
  };
}
