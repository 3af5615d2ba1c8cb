/** What every protocol above the verbs needs: progress, registered buffers, credits. */
export { Engine, type EngineOptions, type EngineStatistics } from './progress/engine.js';
export type { Hold } from './progress/loop-progress.js';
export type { CompletionHandler, Requests, SendHandler } from './progress/requests.js';
export { engineOf, establish } from './connection/establish.js';
export { RcEndpoint, type RcState } from './connection/rc-endpoint.js';
export { type SendListener, SendQueue } from './progress/send-queue.js';
export { BufferPool, type Holding, type Lease, SIZE_CLASSES, type SizeClass } from './memory/buffer-pool.js';
export { BufferSupply } from './memory/buffer-supply.js';
export { type Receiver, ReceiveQueue, type ReceiveQueueOptions } from './memory/receive-queue.js';
export { SpareMemory } from './memory/spare-memory.js';
export { type Registration, RegistrationCache } from './memory/registration-cache.js';
export type {
  CapturedAccess,
  CapturedDatagram,
  CapturedExchange,
  CapturedMessage,
  CaptureWay,
  Dissector,
} from './dissectors/dissector.js';
export { MAX_WINDOW, MIN_WINDOW, ReceiveCredits, SendCredits } from './credits/credits.js';
export { PeerProbes, type Prober } from './waits/peer-probes.js';
export { KeepAlive, type KeepAliveSettings } from './waits/keep-alive.js';
export { unlessAborted, waitUnlessLate } from './waits/late.js';
export { type Outcome, Pending, type Timers, Unsettled } from './waits/pending.js';
export { checkWait, timedOut, WAIT_FIELDS, type WaitOptions } from './waits/wait-options.js';
export { amount, FollowedExchange, hex, MAX_EXCHANGES, remember } from './dissectors/followed.js';
