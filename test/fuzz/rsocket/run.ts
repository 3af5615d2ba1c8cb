import { SeededRandom } from '../../../src/device/link/index.js';
import { Sim, type SimHost } from '../../../src/sim/index.js';
import { VerbsError } from '../../../src/entry/index.js';
import {
  connectStream,
  listenStreams,
  type StreamListener,
  type RsocketStreamSocket,
} from '../../../src/protocols/rsocket/index.js';
import { RawPeer } from '../../../src/protocols/rsocket/test/support/raw-peer.js';
import {
  expectPattern,
  nextStream,
  Owner,
  pattern,
  PORT,
} from '../../../src/protocols/rsocket/test/support/streams.js';
import { check } from '../../sim/failure.js';
import type { Figures } from '../../sim/game.js';
import { checkNothingLeft } from '../../../src/protocols/rsocket/test/sim/leftovers.js';
import { claimsOf, lie } from './liar.js';

/** With what a stream may end whose peer lies, or is gone. */
const ERRNOS = ['EPROTO', 'ECONNRESET', 'ETIMEDOUT', 'EOPNOTSUPP', 'ECONNREFUSED'];
const FRIENDLY_BYTES = 30_000;
const LIES_LAST_US = 20_000;
const LINGER_MS = 10;
const CLOSING_US = 1000 * LINGER_MS + 1000;
const AFTERMATH_US = 120e6;

function isOrdinary(error: unknown): boolean {
  return error === undefined || (error instanceof VerbsError && ERRNOS.includes(error.errno));
}

/** A host with a stream to a friend and another to a peer that lies. */
class LiesRun {
  readonly #random: SeededRandom;
  readonly #sim: Sim;
  #ends = 0;
  #lies = 0;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#sim = new Sim({ seed });
  }

  async play(): Promise<Figures> {
    const sim = this.#sim;
    try {
      await sim.until(this.#all());
      const counts = { 'ends by a lie': this.#lies, ends: this.#ends };
      return { counts, network: sim.statistics(), virtualUs: sim.nowUs };
    } finally {
      sim.close();
    }
  }

  async #all(): Promise<void> {
    const sim = this.#sim;
    const [server, friend, liar] = [sim.host('server'), sim.host('friend'), sim.host('liar')];
    const listener = listenStreams({ port: PORT, context: server.context, receiveBufferBytes: 8192 });
    const coming = nextStream(listener);
    const atFriend = new Owner(await friend.run(() => connectStream({ host: 'server', port: PORT })));
    const atServer = new Owner(await coming);
    for (const owner of [atFriend, atServer]) expectPattern(owner);
    atFriend.send(pattern(0, FRIENDLY_BYTES));
    const victim = await this.#meet(server, liar, listener);
    await sim.sleep(LIES_LAST_US);
    if (victim !== undefined) await this.#part(victim);
    // Nobody else has noticed.
    atServer.send(pattern(0, FRIENDLY_BYTES));
    await Promise.all([atFriend.until(FRIENDLY_BYTES), atServer.until(FRIENDLY_BYTES)]);
    atFriend.stream.close();
    await Promise.all([atFriend.closed, atServer.closed]);
    check(atFriend.error === undefined && atServer.error === undefined, () => 'a stream ended that nobody lied to');
    listener.close();
    liar.crash();
    await sim.sleep(AFTERMATH_US);
    checkNothingLeft(server);
  }

  /** Has the liar come, or lets it be called. @returns the stream to it, if there is one */
  async #meet(server: SimHost, liar: SimHost, listener: StreamListener): Promise<Owner | undefined> {
    const random = this.#random;
    const claims = claimsOf(random);
    let stream: RsocketStreamSocket | undefined;
    let meeting: Promise<RawPeer>;
    if (random.chance(0.5)) {
      listener.onStream = (one) => (stream = one);
      meeting = RawPeer.connect(liar, claims);
    } else {
      meeting = RawPeer.accept(liar, claims);
      const calling = server.run(() => connectStream({ host: 'liar', port: PORT, timeoutMs: 1000 }));
      calling.then(
        (one) => (stream = one),
        (error: unknown) => {
          check(isOrdinary(error), () => `connectStream failed with ${String(error)}`);
        },
      );
    }
    let peer: RawPeer;
    try {
      peer = await meeting;
    } catch {
      // It was refused.
      return undefined;
    }
    await Promise.all([liar.run(() => lie(this.#sim, random, peer)), this.#sim.sleep(1000)]);
    const victim = stream && this.#talk(stream);
    if (random.chance(0.3)) peer.connection[Symbol.dispose]();
    return victim;
  }

  #talk(stream: RsocketStreamSocket): Owner {
    const random = this.#random;
    const owner = new Owner(stream);
    if (!stream.isWriteEnded && random.chance(0.6)) stream.write(pattern(0, random.below(50_000)));
    if (random.chance(0.2)) stream.shutdown(random.pick(['read', 'write', 'both']));
    return owner;
  }

  async #part(victim: Owner): Promise<void> {
    const sim = this.#sim;
    const { stream } = victim;
    if (!stream.isWriteEnded) stream.write(pattern(0, 1000));
    const beforeUs = sim.nowUs;
    stream.close(LINGER_MS);
    await Promise.race([victim.closed, sim.sleep(CLOSING_US)]);
    const { error } = victim;
    check(
      victim.told.includes('closed'),
      () => `a stream to a liar is open ${sim.nowUs - beforeUs} µs after its close`,
    );
    check(isOrdinary(error), () => `a stream to a liar ended with ${String(error)}`);
    this.#ends += 1;
    if (error instanceof VerbsError && error.errno === 'EPROTO') this.#lies += 1;
  }
}

/** Plays the run of one seed. @throws what proves the package wrong */
export function runLiesSeed(seed: number): Promise<Figures> {
  return new LiesRun(seed).play();
}
