import type { Attack } from './attack.js';
import { guestsPackets } from './guest.js';
import { keyHoldersPackets } from './key-holder.js';
import { guestsMessages, strangersMessages } from './manager.js';
import { replays, strangersPackets } from './stranger.js';

export { type Attack, type Knower, KNOWERS, knowerWords } from './attack.js';

export const attacks: readonly Attack[] = [
  ...strangersPackets,
  ...strangersMessages,
  ...replays,
  ...guestsPackets,
  ...guestsMessages,
  ...keyHoldersPackets,
];
