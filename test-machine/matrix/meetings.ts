import type { Meeting } from './meeting.js';
import { ibverbsUtils } from './programs/ibverbs-utils.js';
import { layers } from './programs/layers.js';
import { perftest } from './programs/perftest.js';
import { rdmacmUtils } from './programs/rdmacm-utils.js';

export const meetings: readonly Meeting[] = [...ibverbsUtils, ...rdmacmUtils, ...perftest, ...layers];
