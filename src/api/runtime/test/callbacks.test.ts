import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import {
  afterCallbacks,
  Callbacks,
  CallbackTurn,
  Duty,
  isTimeHeld,
  nextHeldRound,
  ownTurn,
  portable,
  runtime,
  useRuntime,
} from '../index.js';
import '../../../node/hosting/index.js';

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Has a listener note itself, and then a tick and a microtask of it, each begun by the other. */
function noting(seen: string[], name: string): () => void {
  return () => {
    seen.push(name);
    process.nextTick(() => void Promise.resolve().then(() => process.nextTick(() => seen.push(`${name}, later`))));
  };
}

describe('calls of listeners', () => {
  it('have their ticks and microtasks run before the next is called', async () => {
    const seen: string[] = [];
    const [one, other] = [new Callbacks(), new Callbacks()];
    one.call(noting(seen, 'a'));
    other.call(noting(seen, 'b'));
    new CallbackTurn(one, noting(seen, 'c')).queue();
    assert.deepEqual([seen, isTimeHeld()], [[], true]);
    await turns(3);
    assert.deepEqual(seen, ['a', 'a, later', 'b', 'b, later', 'c', 'c, later']);
    assert.equal(isTimeHeld(), false);
  });

  it('run in the async context in which their object was made', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const note = (): void => void seen.push(storage.getStore());
    const of = (name: string): Callbacks => storage.run(name, () => new Callbacks());
    const [alice, bob, nobody] = [of('alice'), of('bob'), new Callbacks()];
    storage.run('carol', () => {
      for (const callbacks of [alice, bob, nobody]) callbacks.call(note);
      new CallbackTurn(bob, note).queue();
      seen.push(alice.run(() => storage.getStore()));
    });
    await turns(3);
    assert.deepEqual(seen, ['alice', 'alice', 'bob', undefined, 'bob']);
  });

  it('are made once however often they were asked for by then', async () => {
    let times = 0;
    const turn = new CallbackTurn(new Callbacks(), () => (times += 1));
    turn.queue();
    turn.queue();
    await turns(2);
    assert.equal(times, 1);
  });

  it('come before what is to be done after them', async () => {
    const seen: string[] = [];
    new Callbacks().call(() => seen.push('called'));
    afterCallbacks(() => seen.push('after'));
    await turns(3);
    assert.deepEqual(seen, ['called', 'after']);
  });
});

describe('a turn of this package', () => {
  it('has room for what it was asked to do, and then for one listener', async () => {
    const seen: string[] = [];
    const callbacks = new Callbacks();
    const duty = new Duty(() => {
      seen.push('duty');
      callbacks.call(noting(seen, 'c'));
    });
    setImmediate(() =>
      ownTurn(() => {
        callbacks.call(noting(seen, 'a'));
        callbacks.call(noting(seen, 'b'));
        duty.queue();
        duty.queue();
        seen.push('done');
      }),
    );
    await turns(1);
    assert.deepEqual(seen.slice(0, 4), ['done', 'duty', 'a', 'a, later']);
    await turns(3);
    assert.deepEqual(seen.slice(4), ['b', 'b, later', 'c', 'c, later']);
  });

  it('has room for one listener that is called at once, and then for no other', async () => {
    const seen: string[] = [];
    const callbacks = new Callbacks();
    const now = (name: string): void => {
      if (!callbacks.callNow(noting(seen, name))) callbacks.call(noting(seen, `${name}, not at once`));
    };
    setImmediate(() =>
      ownTurn(() => {
        now('a');
        now('b');
        callbacks.call(noting(seen, 'c'));
        seen.push('done');
      }),
    );
    await turns(1);
    assert.deepEqual(seen, ['a', 'done', 'a, later']);
    await turns(3);
    const rest = ['b, not at once', 'b, not at once, later', 'c', 'c, later'];
    assert.deepEqual(seen.slice(3), rest);
  });

  it('calls nobody at once while another waits, nor in a turn of the program', async () => {
    const seen: string[] = [];
    const callbacks = new Callbacks();
    setImmediate(() => {
      assert.equal(
        callbacks.callNow(() => undefined),
        false,
      );
      callbacks.call(noting(seen, 'a'));
      ownTurn(() =>
        assert.equal(
          callbacks.callNow(() => undefined),
          false,
        ),
      );
    });
    await turns(3);
    assert.deepEqual(seen, ['a', 'a, later']);
  });

  it('settles a promise as what was asked for in a turn of its own', async () => {
    const storage = new AsyncLocalStorage<string>();
    const callbacks = storage.run('owner', () => new Callbacks());
    const failure = new Error('thrown');
    assert.equal(await callbacks.ask(() => storage.getStore()), 'owner');
    assert.equal(await callbacks.ask(() => Promise.resolve(3)), 3);
    await assert.rejects(
      callbacks.ask(() => Promise.reject(failure)),
      failure,
    );
    await assert.rejects(
      callbacks.ask(() => {
        throw failure;
      }),
      failure,
    );
  });

  it('calls no listener before one that waited already', async () => {
    const seen: string[] = [];
    const callbacks = new Callbacks();
    setImmediate(() => {
      callbacks.call(noting(seen, 'a'));
      ownTurn(() => callbacks.call(noting(seen, 'b')));
    });
    await turns(4);
    assert.deepEqual(seen, ['a', 'a, later', 'b', 'b, later']);
  });

  it('holds virtual time for work that waits', async () => {
    const held: boolean[] = [];
    nextHeldRound(() => held.push(isTimeHeld()));
    held.push(isTimeHeld());
    await turns(2);
    assert.deepEqual(held, [true, false]);
  });

  it('does what else it was asked for when something throws', async () => {
    const seen: string[] = [];
    const failure = new Error('thrown');
    setImmediate(() =>
      assert.throws(
        () =>
          ownTurn(() => {
            new Duty(() => {
              throw failure;
            }).queue();
            new Duty(() => seen.push('duty')).queue();
            new Callbacks().call(() => seen.push('called'));
          }),
        failure,
      ),
    );
    await turns(2);
    assert.deepEqual(seen, ['duty', 'called']);
    assert.equal(isTimeHeld(), false);
  });
});

describe('timers of the runtime', () => {
  it('run in no async context of those who start them', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    await storage.run('somebody', async () => {
      await new Promise<void>((resolve) => {
        runtime().nextRound(() => {
          seen.push(storage.getStore());
          runtime().timer(0, () => {
            seen.push(storage.getStore());
            resolve();
          });
        });
      });
      seen.push(storage.getStore());
    });
    assert.deepEqual(seen, [undefined, undefined, 'somebody']);
  });
});

describe('calls of listeners in a page of a browser', () => {
  it('have turns of their own, and the ambient values of their object', async () => {
    const before = runtime();
    useRuntime(portable);
    try {
      const [host, user] = [portable.ambient<string>(), portable.ambient<string>()];
      const seen: string[] = [];
      const listen = (name: string) => (): void => {
        seen.push(`${name}: ${host.get() ?? ''} ${user.get() ?? ''}`);
        void Promise.resolve().then(() => seen.push(`${name}, later`));
      };
      const callbacks = host.run('h', () => user.run('u', () => new Callbacks()));
      host.run('other', () => {
        callbacks.call(listen('a'));
        callbacks.call(listen('b'));
      });
      await new Promise<void>((resolve) => portable.nextRound(resolve));
      assert.deepEqual(seen, ['a: h u', 'a, later', 'b: h u', 'b, later']);
      assert.deepEqual([host.get(), user.get()], [undefined, undefined]);
    } finally {
      useRuntime(before);
    }
  });
});
