import { MwType } from '../../../device/ibta/index.js';
import { command, order } from '../command.js';
import { registerProgramMemory } from '../program-region.js';
import { Refusal } from '../../refusal.js';
import { Structs } from '../structs.js';

const { ALLOC_MW, EMPTY, HANDLE, REG_MR } = Structs;

export const memoryCommands = [
  command({
    name: 'ALLOC_PD',
    number: 3,
    request: EMPTY,
    answer: HANDLE,
    act: (file) => {
      const pd = file.context.allocPd();
      const handle = file.pds.add(pd);
      return {
        answer: { handle },
        undo: () => {
          pd.dealloc();
          file.pds.remove(handle);
        },
      };
    },
  }),
  order({
    name: 'DEALLOC_PD',
    number: 4,
    request: HANDLE,
    act: (file, { handle }) => {
      file.pds.getToEnd(handle).dealloc();
      file.pds.remove(handle);
    },
  }),
  command({
    name: 'REG_MR',
    number: 9,
    request: REG_MR.request,
    answer: REG_MR.answer,
    act: (file, { pd, ...region }) => {
      const mr = registerProgramMemory(file, () => file.pds.get(pd), region);
      const handle = file.mrs.add(mr);
      file.registered(mr.length);
      return {
        answer: { handle, lkey: mr.lkey, rkey: mr.rkey },
        undo: () => {
          file.registered(-mr.length);
          mr.dereg();
          file.mrs.remove(handle);
        },
      };
    },
  }),
  order({
    name: 'DEREG_MR',
    number: 13,
    request: HANDLE,
    act: (file, { handle }) => {
      const mr = file.mrs.getToEnd(handle);
      const { length } = mr;
      mr.dereg();
      file.registered(-length);
      file.mrs.remove(handle);
    },
  }),
  command({
    name: 'ALLOC_MW',
    number: 14,
    request: ALLOC_MW.request,
    answer: ALLOC_MW.answer,
    act: (file, { pd, type }) => {
      const mwType = Object.values(MwType).find((known) => known === type);
      if (mwType === undefined)
        throw new Refusal('EINVAL', `type is ${type}. There are IBV_MW_TYPE_1 and IBV_MW_TYPE_2`);
      const mw = file.pds.get(pd).allocMw(mwType);
      const handle = file.mws.add(mw);
      return {
        answer: { handle, rkey: mw.rkey },
        undo: () => {
          mw.dealloc();
          file.mws.remove(handle);
        },
      };
    },
  }),
  order({
    name: 'DEALLOC_MW',
    number: 16,
    request: HANDLE,
    act: (file, { handle }) => {
      file.mws.getToEnd(handle).dealloc();
      file.mws.remove(handle);
    },
  }),
];
