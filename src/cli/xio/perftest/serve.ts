import type { XioListenOptions } from '../../../entry/xio.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { openFirst, spinningHosts } from '../../kit/spinning.js';
import { streamDevice } from '../../kit/options.js';
import { deviceForThreads } from './device.js';
import type { XioPerfFlags } from './flags.js';
import { answerAt, sendOn, type Serving, type Sessions } from './server.js';
import { Thread } from './threads.js';

class Told implements Sessions {
  #sessions = 0;
  #requests = 0;

  constructor(private readonly isJson: boolean) {}

  listening(url: string, portals: readonly string[]): void {
    this.#say(`Listening at ${url}\n`);
    for (const portal of portals) this.#say(`Portal ${portal}\n`);
  }

  begun(from: string): void {
    this.#sessions += 1;
    this.#say(`Session from ${from}\n`);
  }

  ended(from: string, requests: number): void {
    this.#requests += requests;
    this.#say(`Session from ${from} has ended: ${requests} requests\n`);
  }

  end(url: string): void {
    const [sessions, requests] = [this.#sessions, this.#requests];
    if (this.isJson)
      process.stdout.write(`${JSON.stringify({ tool: 'xio_perftest', role: 'server', url, sessions, requests })}\n`);
  }

  #say(text: string): void {
    if (!this.isJson) process.stdout.write(text);
  }
}

function placeOf({ r: transport, p: port, addr }: XioPerfFlags): XioListenOptions {
  return { transport, port, ...(transport === 'tcp' && addr !== undefined && { host: addr }) };
}

async function withoutPortals(flags: XioPerfFlags, told: Told): Promise<Serving> {
  const place = placeOf(flags);
  if (flags.r === 'tcp') return answerAt(place, told);
  // Clients of a server at a loopback address are here.
  const isHere = (flags.addr ?? process.env['VERBENA_ADDR'] ?? '127.0.0.1').startsWith('127.');
  return openFirst(spinningHosts(flags, isHere), (options) => answerAt({ ...place, ...streamDevice(options) }, told));
}

/** Answers clients, until Ctrl-C. */
export async function beServer(flags: XioPerfFlags): Promise<void> {
  const told = new Told(flags.json === true);
  const threads: Thread[] = [];
  const start = async (): Promise<Serving> => {
    if (flags.w === 0) return withoutPortals(flags, told);
    const place = placeOf(flags);
    const context = flags.r === 'rdma' ? deviceForThreads(flags) : undefined;
    for (let i = 0; i < flags.w; i += 1) {
      const task = { kind: 'portal', scheme: flags.r, ...(place.host !== undefined && { host: place.host }) } as const;
      const device = context?.share();
      threads.push(
        new Thread(device === undefined ? task : { ...task, device }, (one) => {
          if (one.kind === 'begun') told.begun(one.from);
          else if (one.kind === 'ended') told.ended(one.from, one.requests);
        }),
      );
    }
    const urls = await Promise.all(threads.map((thread) => thread.ready()));
    const serving = await sendOn(context === undefined ? place : { ...place, context }, urls);
    told.listening(serving.server.url, urls);
    return serving;
  };
  const { server, done } = await start();
  if (flags.w === 0) told.listening(server.url, []);
  endOnInterrupt(async () => {
    const { url } = server;
    await server.stop({ timeoutMs: 0 });
    await Promise.all(threads.map((thread) => thread.close()));
    told.end(url);
  });
  await Promise.race([done, ...threads.map((thread) => thread.failed)]);
}
