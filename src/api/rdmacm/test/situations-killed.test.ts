import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type CmEvent,
  CmEventType,
  cmEventStr,
  type CmId,
  createEventChannel,
  createId,
  openDevice,
  PortSpace,
} from '../../../entry/index.js';
import { Program } from '../../../node/hosting/test/programs.js';
import { loopback } from '../../../../test/support/loopback.js';
import { type Step, STEPS } from './situations-steps.js';
import { PORT } from './support.js';

const { CONNECT_REQUEST, ESTABLISHED, DISCONNECTED } = CmEventType;
const SERVER = loopback(1);
const CLIENT = loopback(2);

/** What a server hears of a client that goes as far as that, when it accepts. */
const heardOf: Readonly<Record<Step, readonly CmEventType[]>> = {
  resolved: [],
  answered: [CONNECT_REQUEST],
  asked: [CONNECT_REQUEST],
  established: [CONNECT_REQUEST, ESTABLISHED],
  parting: [CONNECT_REQUEST, ESTABLISHED, DISCONNECTED],
};

function startClient(step: Step): Program {
  return new Program('../../../../api/rdmacm/test/situations-client', [CLIENT, SERVER, String(PORT), step]);
}

class Server implements Disposable {
  readonly #context = openDevice({ address: SERVER });
  readonly #channel = createEventChannel({ contexts: [this.#context] });
  readonly #events = this.#channel[Symbol.asyncIterator]();
  readonly #listener = createId(this.#channel, PortSpace.TCP);

  constructor() {
    this.#listener.bindAddr({ port: PORT });
    this.#listener.listen();
  }

  async next(type: CmEventType): Promise<CmEvent> {
    const { value: event } = await this.#events.next();
    assert.ok(event !== undefined);
    event.ack();
    assert.equal(cmEventStr(event.event), cmEventStr(type), `status ${event.status}`);
    return event;
  }

  /** Goes along with a client; gives the identifier that stands for it, if the client has got so far. */
  async attend(step: Step): Promise<CmId | undefined> {
    let id: CmId | undefined;
    for (const type of heardOf[step]) {
      const event = await this.next(type);
      id ??= event.id;
      // The one that is killed while it waits for an answer gets it too late.
      if (type === CONNECT_REQUEST && step !== 'asked') accept(id);
    }
    return id;
  }

  [Symbol.dispose](): void {
    this.#listener.destroyEp();
    void this.#events.return?.();
    this.#channel.destroy();
    this.#context.close();
  }
}

function accept(id: CmId): void {
  id.createQp();
  id.accept();
}

describe('a server whose client is killed', () => {
  for (const step of STEPS)
    it(`when the client is ${step} takes the next one, from the same address`, async () => {
      using server = new Server();
      const killed = startClient(step);
      const [id] = await Promise.all([server.attend(step), killed.message()]);
      await killed[Symbol.asyncDispose]();
      if (id !== undefined && step === 'asked') accept(id);
      // As Linux sends a DREQ for a process that was killed.
      if (step === 'established') await server.next(DISCONNECTED);
      await using successor = startClient('established');
      const [another] = await Promise.all([server.attend('established'), successor.message()]);
      assert.ok(another !== undefined && another !== id);
      id?.destroyEp();
      another.destroyEp();
    });

  it('learns at the latest from the successor at its address that nobody knows the connection', async () => {
    using server = new Server();
    const killed = startClient('established');
    const [id] = await Promise.all([server.attend('established'), killed.message()]);
    await killed[Symbol.asyncDispose]();
    await using successor = startClient('resolved');
    await successor.message();
    id?.disconnect();
    const { status } = await server.next(DISCONNECTED);
    assert.equal(status, 0);
    id?.destroyEp();
  });
});
