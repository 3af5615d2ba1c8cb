import { bytesOf } from '../plan.js';
import { type Play, pingPong, type Side } from './play.js';

function sending({ out, data }: Side): Play {
  return () => out.streamSend(data);
}

function receiving({ plan, into, memory }: Side): Play {
  const buffer = memory.bytes.subarray(0, bytesOf(plan));
  return () => into.streamReceive(buffer, { waitAll: true });
}

export function streamLat(side: Side): Play {
  return pingPong(side, sending(side), receiving(side));
}

export function streamBw(side: Side): Play {
  return side.isClient ? sending(side) : receiving(side);
}
