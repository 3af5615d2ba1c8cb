/** The links of a machine: UDP by system calls or by Node, memory that programs share, and files of what went by. */
export { PcapngFile, type PcapngFileOptions } from './capture/pcapng-file.js';
export { DgramLink, type DgramLinkOptions } from './dgram-link.js';
export { type LinkKind, type LocalLinkOptions, openNativeLink } from './local/local-link.js';
export { KeptPackets } from './udp/kept-packets.js';
export { UdpArrivals, UdpReceiver } from './udp/udp-receiver.js';
export { UdpLink, type UdpLinkOptions } from './udp/udp-link.js';
export { isVacant } from './udp/vacancy.js';
