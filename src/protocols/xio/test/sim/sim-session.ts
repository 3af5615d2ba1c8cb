import { SESSION_ID_BYTES, XioStatus } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { finishWhenIdle } from './direct.js';
import type { ClientPlan } from './plan.js';
import { SimClient } from './sim-client.js';
import type { SimServer } from './sim-server.js';
import type { World } from './world.js';

/** A client's session, with the connections that it has, as a session of the API binds them to each other. */
export class SimSession {
  readonly connections: SimClient[] = [];
  readonly all: SimClient[] = [];
  readonly leading: SimClient;
  readonly #names: Uint8Array[] = [];
  #isOpen = false;
  #isClosing = false;
  #begun = 0;
  #turn = 0;

  constructor(
    private readonly world: World,
    private readonly plan: ClientPlan,
    private readonly servers: readonly SimServer[],
  ) {
    this.leading = this.#make(0, plan.servers);
  }

  get isOver(): boolean {
    return this.leading.isOver;
  }

  start(): void {
    for (const call of this.plan.calls) this.world.clock.after(call.atUs, () => this.#call(call));
    this.leading.start();
  }

  finish(): void {
    if (this.isOver) return;
    check(this.#begun === this.plan.calls.length, () => 'a program closes its session before it has begun all');
    this.finishAll();
  }

  cut(connection: number): void {
    this.connections.at(connection % this.connections.length)?.speaker.link?.cut();
  }

  cutAll(): void {
    for (const { speaker } of this.connections) speaker.link?.cut();
  }

  /** All connections have the same name as often as they have begun anew. */
  nameOf(life: number): Uint8Array {
    while (this.#names.length < life)
      this.#names.push(Uint8Array.from({ length: SESSION_ID_BYTES }, () => this.world.random.below(256)));
    return this.#names[life - 1];
  }

  opened(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.plan.further.forEach((addresses, index) => {
      const client = this.#make(index + 1, addresses);
      client.start();
      if (this.#isClosing) this.finishAll();
    });
  }

  finishAll(): void {
    this.#isClosing = true;
    finishWhenIdle(this.connections);
  }

  endIfDone(): void {
    if (this.connections.every(({ hasParted }) => hasParted)) this.over(XioStatus.XIO_E_SUCCESS);
  }

  over(status: XioStatus): void {
    for (const client of this.connections.slice()) client.end(status);
  }

  doWithout(client: SimClient): void {
    this.connections.splice(this.connections.indexOf(client), 1);
    this.endIfDone();
  }

  #make(connection: number, addresses: readonly number[]): SimClient {
    const client = new SimClient(this.world, this.plan, this.servers, this, connection, addresses);
    this.connections.push(client);
    this.all.push(client);
    return client;
  }

  #call(call: ClientPlan['calls'][number]): void {
    this.#begun += 1;
    const attached = this.connections.filter(({ speaker }) => speaker.channel.isAttached);
    const among = attached.length > 0 ? attached : this.connections.filter(({ speaker }) => speaker.channel.wasBegun);
    this.#turn += 1;
    // Before there is a session calls wait for its first connection, where those of the API cannot be made.
    const client = among.at(this.#turn % Math.max(1, among.length)) ?? this.leading;
    if (client.isOver || client.speaker.channel.isFinishing || this.#isClosing) this.leading.refuse();
    else client.call(call);
  }
}
