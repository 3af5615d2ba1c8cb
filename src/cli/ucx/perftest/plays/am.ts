import type { AmMessage, UcpEndpoint } from '../../../../entry/ucp.js';
import { pingPong, type Play, type Side } from './play.js';

export class Inbox {
  #arrived = 0;
  readonly #waiting: (() => void)[] = [];

  arrive(): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#arrived += 1;
    else waiting();
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#arrived === 0) this.#waiting.push(resolve);
      else {
        this.#arrived -= 1;
        resolve();
      }
    });
  }
}

const IDS = { toServer: 1, toClient: 2 } as const;

function receiving({ worker, memory, isClient }: Side): Play {
  const inbox = new Inbox();
  worker.setAmHandler(isClient ? IDS.toClient : IDS.toServer, (message: AmMessage<UcpEndpoint>) => {
    if (!message.isRendezvous) inbox.arrive();
    // One that fails ends its endpoint, of which the other side tells.
    else
      void message
        .keep()
        .receive(memory.bytes)
        .then(
          () => inbox.arrive(),
          () => undefined,
        );
  });
  return () => inbox.next();
}

function sending({ plan, out, data, isClient }: Side): Play {
  const id = isClient ? IDS.toServer : IDS.toClient;
  const header = new Uint8Array(plan.headerBytes);
  return () => out.amSend(id, header, data);
}

export function amLat(side: Side): Play {
  return pingPong(side, sending(side), receiving(side));
}

export function amBw(side: Side): Play {
  return side.isClient ? sending(side) : receiving(side);
}
