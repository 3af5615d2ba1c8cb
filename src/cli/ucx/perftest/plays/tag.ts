import type { Pieces } from '../../../../entry/ucp.js';
import { bytesOf, type Layout, placesOf, type Plan } from '../plan.js';
import { type Play, type PlayOf, pingPong, type Side, turn } from './play.js';

const TAGS = { toServer: 0x1337n, toClient: 0x1338n } as const;
const NO_BITS = 0n;

/** The bytes of a message, cut as its layout says. */
function pieces(bytes: Uint8Array, layout: Layout, plan: Plan): Pieces {
  if (layout !== 'iov') return bytes.subarray(0, bytesOf(plan));
  return placesOf(plan).places.map(({ from, to }) => bytes.subarray(from, to));
}

function sending({ plan, out, data, isClient }: Side, call: 'tagSend' | 'tagSendSync'): Play {
  const message = pieces(data, plan.sendLayout, plan);
  const tag = isClient ? TAGS.toServer : TAGS.toClient;
  return call === 'tagSend' ? () => out.tagSend(message, tag) : () => out.tagSendSync(message, tag);
}

function receiving({ plan, worker, memory, isClient }: Side): Play {
  const buffer = pieces(memory.bytes, plan.receiveLayout, plan);
  const tag = isClient ? TAGS.toClient : TAGS.toServer;
  const options = plan.wildcard ? { mask: NO_BITS } : {};
  if (!plan.unexpected) return () => worker.tagReceive(buffer, tag, options);
  return async () => {
    for (;;) {
      const message = worker.tagProbeRemove(tag, options.mask);
      if (message !== undefined) return worker.tagMessageReceive(message, buffer);
      await turn();
    }
  };
}

export function tagLat(call: 'tagSend' | 'tagSendSync'): PlayOf {
  return (side) => pingPong(side, sending(side, call), receiving(side));
}

export function tagBw(call: 'tagSend' | 'tagSendSync'): PlayOf {
  return (side) => (side.isClient ? sending(side, call) : receiving(side));
}
