/** Where a program's devices and memory come from, and what layers above the verbs need of a device besides the verbs. */
export { alloc } from './alloc.js';
export { currentProvider, getDeviceList, openDevice, setProviderFinder, useProvider } from './current-provider.js';
export {
  type CmArgument,
  type CmDevice,
  cmDevice,
  cmDeviceOf,
  type CmValue,
  type CmVerb,
  followCompChannel,
  followEvents,
  type OwnAddress,
  type ProvidedCompChannel,
  type ProvidedContext,
  providedContext,
  type Provider,
  startTimer,
} from './provider.js';
