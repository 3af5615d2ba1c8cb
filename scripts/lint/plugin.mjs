// The rules that oxlint does not have: layering, and no enums. A plugin of oxlint needs a default export.
import { circlesRule } from './circles.mjs';
import { roomsRule } from './rooms.mjs';

const enumRule = {
  meta: { type: 'problem', schema: [] },
  create: (context) => ({
    TSEnumDeclaration: (node) =>
      context.report({ node, message: 'Write a const object and a union type of the same name.' }),
  }),
};

export default { meta: { name: 'verbena' }, rules: { rooms: roomsRule, circles: circlesRule, 'no-enum': enumRule } };
