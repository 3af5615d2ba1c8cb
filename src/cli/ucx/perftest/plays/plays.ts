import type { UcpTestName } from '../tests.js';
import { amBw, amLat } from './am.js';
import { pingPong, type Play, type PlayOf, type Side, turn } from './play.js';
import { tagBw, tagLat } from './tag.js';
import type { AtomicName } from '../../../../entry/ucp.js';
import { bytesOf } from '../plan.js';

/** Values that the last byte of a message takes in turn. Memory holds 0 in the beginning. */
const NUMBERS = 255;

/** What is put is seen by looking: its last byte changes last. */
function putLat(side: Side): Play {
  const { plan, out, data, memory, theirs } = side;
  const last = bytesOf(plan) - 1;
  const { bytes } = memory;
  let sent = 0;
  let seen = 0;
  const send = (): Promise<void> => {
    data[last] = 1 + (sent++ % NUMBERS);
    return out.put(data, theirs.address, theirs);
  };
  const receive = async (): Promise<void> => {
    const number = 1 + (seen++ % NUMBERS);
    while (bytes[last] !== number) await turn();
  };
  return pingPong(side, send, receive);
}

function putBw({ isClient, out, data, theirs }: Side): Play | undefined {
  return isClient ? () => out.put(data, theirs.address, theirs) : undefined;
}

function get({ plan, isClient, out, memory, theirs }: Side): Play | undefined {
  const buffer = memory.bytes.subarray(0, bytesOf(plan));
  return isClient ? () => out.get(buffer, theirs.address, theirs) : undefined;
}

function sending({ out, data }: Side): Play {
  return () => out.streamSend(data);
}

function receiving({ plan, into, memory }: Side): Play {
  const buffer = memory.bytes.subarray(0, bytesOf(plan));
  return () => into.streamReceive(buffer, { waitAll: true });
}

function streamLat(side: Side): Play {
  return pingPong(side, sending(side), receiving(side));
}

function streamBw(side: Side): Play {
  return side.isClient ? sending(side) : receiving(side);
}

const BY_ONE = 1n;

/** @param isFetching whether what was there before comes back, and is waited for */
function atomicPlay(name: AtomicName, isFetching: boolean): PlayOf {
  return ({ plan, isClient, out, theirs }) => {
    if (!isClient) return undefined;
    const bytes = bytesOf(plan) === 4 ? 4 : 8;
    const options = { bytes, ...(name === 'compareSwap' && { compare: 0n }) } as const;
    const { address } = theirs;
    if (isFetching) return () => out.atomicFetch(name, BY_ONE, address, theirs, options);
    return () => out.atomic(name, BY_ONE, address, theirs, options);
  };
}

const PLAYS: Readonly<Record<UcpTestName, PlayOf>> = {
  tag_lat: tagLat('tagSend'),
  tag_bw: tagBw('tagSend'),
  tag_sync_lat: tagLat('tagSendSync'),
  tag_sync_bw: tagBw('tagSendSync'),
  ucp_put_lat: putLat,
  ucp_put_bw: putBw,
  ucp_get: get,
  ucp_add: atomicPlay('add', false),
  ucp_fadd: atomicPlay('add', true),
  ucp_swap: atomicPlay('swap', true),
  ucp_cswap: atomicPlay('compareSwap', true),
  stream_bw: streamBw,
  stream_lat: streamLat,
  ucp_am_lat: amLat,
  ucp_am_bw: amBw,
};

/** What a side does in its test; undefined where it only holds out its memory. */
export function playOf(side: Side): Play | undefined {
  return PLAYS[side.test.name](side);
}
