import type { Personal } from '../../values/personal.ts'

export const canvasPersonal = {
  conversations: {
    personal: { title: { kind: 'words', ground: 'contract', forget: 'word' } },
    plain: ['caller_id'],
    about: { person: ['caller_id'] },
  },
  conversation_turns: {
    personal: {
      message: { kind: 'words', ground: 'contract', forget: 'word' },
      lines: { kind: 'words', ground: 'contract', forget: 'empty' },
    },
    plain: ['conversation_id'],
    about: {
      person: [
        '(select c.caller_id from conversations c where (c.owner_id, c.mode, c.id) = (t.owner_id, t.mode, t.conversation_id))',
      ],
    },
  },
} as const satisfies Personal
