/** What UCP decides, without a clock and without transports: pure machines and functions. */
export {
  explainProtocol,
  type HeaderBytes,
  Protocol,
  RNDV_SCHEMES,
  type RndvScheme,
  selectProtocol,
  type SizeRange,
  sizeRanges,
  type Thresholds,
  type TransportLimits,
} from './selection.js';
export { partOf, putInto, putRest, steady } from './program-bytes.js';
export {
  type TagCounters,
  tagCounters,
  ANNOUNCEMENT_COST,
  MESSAGE_COST,
  type MessageSource,
  type TagInfo,
  TagMatching,
  TagMessage,
  TagPeer,
  type PeerProblem,
  type TagReceive,
} from './tag-matching.js';
export { FULL_MASK, type Tag, tagIn, tagOf, tagValue } from './tag.js';
