/** Where a program's devices and memory come from, and what layers above the verbs need of a device besides the verbs. */
export { alloc } from './alloc.js';
export { openDatagramPort } from './datagram-port.js';
export { noteOpened, openedDevices, watchOpened } from './open-devices.js';
export { after } from './timer.js';
export { knowsNames, lookUpFrom } from './lookup.js';
export { currentProvider, getDeviceList, openDevice, setProviderFinder, useProvider } from './current-provider.js';
export {
  type CmArgument,
  type CmDevice,
  cmDevice,
  cmDeviceOf,
  type CmValue,
  type CmVerb,
  datagramPort,
  followCompChannel,
  followEvents,
  hasOwnThread,
  lookupName,
  type OwnAddress,
  type ChannelFollowing,
  pollAwaited,
  type ProvidedCompChannel,
  type ProvidedContext,
  type ProvidedCq,
  providedCq,
  providedContext,
  type Provider,
  startChore,
  startPollAwaited,
  startTimer,
  startTurn,
  unreadCount,
  unreadWrId,
} from './provider.js';
