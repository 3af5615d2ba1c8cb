import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { connectStream, listenStreams, type RsocketStreamSocket } from '../../../entry/rsocket.js';
import { Turns } from '../../../../test/support/turns.js';

const CLIENTS = ['alice', 'bob', 'carol'];
const BYTES = 200_000;

describe('events of streams', () => {
  it('have turns of their own, in the context of who connects or listens', () =>
    simulate(async (sim) => {
      const turns = new Turns();
      const streams: RsocketStreamSocket[] = [];
      const listener = turns.as('server', () => listenStreams({ port: 7471, context: sim.host('server').context }));
      turns.as('another', () => {
        listener.onStream = (stream) => {
          turns.enter('stream', 'server');
          streams.push(stream);
          const buffer = new Uint8Array(BYTES);
          stream.events = {
            readable: () => {
              turns.enter('readable', 'server');
              while (stream.read(buffer) > 0);
              if (stream.isReadEnded) stream.close();
            },
            writable: () => turns.enter('writable', 'server'),
            closed: () => turns.enter('closed', 'server'),
          };
        };
      });
      let received = 0;
      await Promise.all(
        CLIENTS.map((name) =>
          turns.as(name, async () => {
            const stream = await sim.host(name).run(() => connectStream({ host: 'server', port: 7471 }));
            let left = BYTES;
            const write = (): void => {
              left -= stream.write(new Uint8Array(left));
              if (left === 0) stream.shutdown('write');
            };
            stream.events = {
              readable: () => turns.enter('readable', name),
              writable: () => {
                turns.enter('writable', name);
                write();
              },
              drained: () => turns.enter('drained', name),
              closed: () => {
                turns.enter('closed', name);
                received += 1;
              },
            };
            write();
          }),
        ),
      );
      await sim.sleep(1_000_000);
      listener.close();
      const counts: Record<string, number> = {};
      for (const name of turns.seen) counts[name] = (counts[name] ?? 0) + 1;
      const { readable = 0, writable = 0, drained = 0 } = counts;
      turns.check({ stream: 3, closed: 6, readable, writable, drained });
      if (received !== 3 || readable < 6 || writable < 3 || drained < 3) throw new Error(JSON.stringify(counts));
    }));
});
