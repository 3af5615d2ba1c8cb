/** Entry of the thread that stands in for the inline NICs of another thread. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { StandInStage, StandInWord, type StandInMessage, type StandInThreadStart } from './stand-in-protocol.js';
import { WatchedNic } from './watched-nic.js';

/**
 * How often it looks: while a NIC stands still; while packets wait for one, or it takes turns; and while nothing happens, which the next
 * turn of a NIC ends. A look wakes a sleeping thread, which takes some 0.1 ms on a virtual machine.
 */
const SERVING_MS = 5;
const WATCHING_MS = 40;
const RESTING_MS = 250;

// `stand-in-thread.ts` starts this file, with that and nothing else.
const { words: memory } = workerData as StandInThreadStart;
const words = new Int32Array(memory);
const nics = new Map<number, WatchedNic>();
let taken = 0;

function takeMessages(): void {
  while (parentPort !== null && taken !== Atomics.load(words, StandInWord.MESSAGES)) {
    const received = receiveMessageOnPort(parentPort);
    if (received === undefined) return;
    taken += 1;
    // Nothing else is sent here.
    const message = received.message as StandInMessage;
    if ('watch' in message) nics.set(message.watch.id, new WatchedNic(message.watch));
    else nics.delete(message.forget);
  }
}

/** Until {@link StandInWord.STOP}. */
function standIn(): void {
  while (Atomics.load(words, StandInWord.STOP) === 0) {
    takeMessages();
    let serving = false;
    let resting = true;
    for (const nic of nics.values()) {
      nic.look();
      serving ||= nic.isStill;
      resting &&= nic.isResting;
    }
    Atomics.wait(words, StandInWord.STOP, 0, serving ? SERVING_MS : resting ? RESTING_MS : WATCHING_MS);
  }
}

const { STARTING, NATIVE, ENDED } = StandInStage;
if (Atomics.compareExchange(words, StandInWord.STAGE, STARTING, NATIVE) === STARTING)
  try {
    standIn();
  } finally {
    Atomics.store(words, StandInWord.STAGE, ENDED);
    Atomics.notify(words, StandInWord.STAGE);
  }
