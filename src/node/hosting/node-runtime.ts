import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { fstatSync, readFileSync } from 'node:fs';
import {
  type Ambient,
  type AsyncContext,
  inPieces,
  type Life,
  LONGEST_MS,
  type Runtime,
} from '../../api/runtime/index.js';
import { crc32 } from '../../device/wire/index.js';
import { PcapngFile } from '../links/index.js';
import { addressOf, inRootContext, nativeHost, quickestCrc32 } from '../system/index.js';
import { NodeDatagramPort } from './node-datagram-port.js';
import { NodeFolder } from './node-folder.js';
import { openLog } from './node-log.js';

class NodeAmbient<T> implements Ambient<T> {
  readonly #storage = new AsyncLocalStorage<T>();

  run<R>(value: T, program: () => R): R {
    return this.#storage.run(value, program);
  }

  get(): T | undefined {
    return this.#storage.getStore();
  }

  bind<Arguments extends unknown[], R>(action: (...args: Arguments) => R): (...args: Arguments) => R {
    return AsyncResource.bind(action);
  }
}

class NodeContext implements AsyncContext {
  readonly #resource = new AsyncResource('verbena');

  run<R>(action: () => R): R {
    return this.#resource.runInAsyncScope(action);
  }
}

function readVersion(): string {
  // From dist/src/node/hosting/ to the package's root.
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  return 'unknown';
}

let packageVersion: string | undefined;

/** Those who test programs may put other timers into the place of the real ones. */
const { setImmediate, setTimeout, clearTimeout } = globalThis;
const nextTick = process.nextTick.bind(process);

/** Node, as the API sees it. */
export const nodeRuntime: Runtime = {
  get packageVersion() {
    packageVersion ??= readVersion();
    return packageVersion;
  },
  get crc32() {
    return quickestCrc32(crc32).crc32;
  },
  get crc32Source() {
    return quickestCrc32(crc32).source;
  },
  environment: (name) => process.env[name],
  environmentNames: () => Object.keys(process.env),
  warn: (problem) => process.emitWarning(problem),
  // From a microtask, it is called once there is none left.
  afterMicrotasks: (action) => nextTick(action),
  openLog,
  nextRound: (action) => void inRootContext(setImmediate, action),
  timer: inPieces((delayMs, action) => {
    const timer = inRootContext(setTimeout, action, delayMs);
    return () => clearTimeout(timer);
  }),
  chore: inPieces((delayMs, action) => {
    const timer = inRootContext(setTimeout, action, delayMs).unref();
    return () => clearTimeout(timer);
  }),
  keepAlive: (): Life => {
    const timer = inRootContext(() => setInterval(() => undefined, LONGEST_MS));
    return { ref: () => void timer.ref(), unref: () => void timer.unref(), end: () => clearInterval(timer) };
  },
  ambient: <T>() => new NodeAmbient<T>(),
  asyncContext: () => new NodeContext(),
  memory: (bytes) => new SharedArrayBuffer(bytes),
  addressOf: (buffer) => (nativeHost() === undefined ? undefined : addressOf(buffer)),
  identityOfFile: (fd) => {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return `${dev}:${ino}`;
  },
  openDatagramPort: (options) => new NodeDatagramPort(options),
  openFolder: (path) => new NodeFolder(path),
  openCapture: (path) => new PcapngFile(path, { warn: () => undefined }),
};
