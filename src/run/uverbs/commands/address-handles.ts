import { addressOf } from '../../structs/addresses.js';
import { command, order } from '../command.js';
import { Structs } from '../structs.js';

const { CREATE_AH, HANDLE } = Structs;

export const addressHandleCommands = [
  command({
    name: 'CREATE_AH',
    number: 5,
    request: CREATE_AH.request,
    answer: CREATE_AH.answer,
    driver: CREATE_AH.driverAnswer,
    act: (file, { pd, attr }) => {
      const ah = file.pds.get(pd).createAh(addressOf(attr));
      const handle = file.ahs.add(ah);
      return {
        answer: { handle },
        // With 0 the provider would look the address up by itself.
        driver: { ahNum: handle },
        undo: () => {
          ah.destroy();
          file.ahs.remove(handle);
        },
      };
    },
  }),
  order({
    name: 'DESTROY_AH',
    number: 8,
    request: HANDLE,
    act: (file, { handle }) => {
      file.ahs.getToEnd(handle).destroy();
      file.ahs.remove(handle);
    },
  }),
];
