/** Who gives a program its devices and its memory, and what layers above the verbs ask of a device beside them. */
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
