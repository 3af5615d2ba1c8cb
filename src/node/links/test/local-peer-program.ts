/**
 * A NIC's link in a process of its own: `node local-peer-program.js ADDRESS DIRECTORY`. It says `ready`, and answers each
 * packet with the same bytes, awake; or it sends them to ADDRESS for ever (`flood ADDRESS`), or claims a slot there and stops
 * in the middle of a packet (`half ADDRESS`).
 */
import { gidFromIp } from '../../../device/ibta/index.js';
import { createPath, type PacketMeta } from '../../../device/wire/index.js';
import { openNativeLink } from '../index.js';
import { whole } from './udp-helpers.js';

const [address, directory, what, target] = process.argv.slice(2);
const link = openNativeLink({ address, directory, kind: 'shm' });

function put(ip: string, bytes: Uint8Array, commit: boolean): void {
  const path = createPath({ sgid: link.gid, dgid: gidFromIp(ip) });
  const offset = link.sink.reserve(path, bytes.length);
  if (offset < 0) return;
  link.sink.bytes.set(bytes, offset);
  if (commit) link.sink.commit();
}

const PACKET = new Uint8Array(1000).fill(7);
switch (what) {
  case 'flood':
    console.log('ready');
    for (;;) {
      for (let i = 0; i < 8; i += 1) put(target, PACKET, true);
      link.flush();
    }
  case 'half':
    put(target, PACKET, true);
    link.flush();
    put(target, PACKET, false);
    console.log('ready');
    for (;;);
  default: {
    const path = createPath({ sgid: link.gid, dgid: gidFromIp(target) });
    const receiver = {
      receive: (bytes: Uint8Array, offset: number, length: number, meta: PacketMeta): void => {
        const at = link.sink.reserve(path, length);
        link.sink.bytes.set(whole(bytes, offset, length, meta), at);
        link.sink.commit();
      },
    };
    console.log('ready');
    for (;;) if (link.receive(receiver, 64) > 0) link.flush();
  }
}
