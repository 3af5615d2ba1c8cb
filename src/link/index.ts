/** Where packets go: the links of a NIC. */
export { DgramLink, type DgramLinkOptions } from './dgram-link.js';
export {
  type FramePort,
  type Link,
  type LinkStatus,
  MAX_GROUPS,
  type PacketReceiver,
  type PacketSink,
  type PolledLink,
} from './link.js';
export { type LinkKind, type LocalLinkOptions, openNativeLink } from './local-link.js';
export { codeOf, errnoNameOf, LinkError } from './link-error.js';
export { disturb, DisturbedLink, type DisturbOptions } from './netem.js';
export { NETEM_EXAMPLE, type NetemDirection, type NetemSettings, parseNetem } from './netem-words.js';
export { PcapngFile, type PcapngFileOptions } from './pcapng-file.js';
export * from './simulated.js';
export { type PacketRecorder, tap, type TapOptions, TappedLink } from './tap.js';
export { UdpLink, type UdpLinkOptions } from './udp-link.js';
