import { area } from '../../kernel/contract/area.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { applyBankNotice } from '../transfers/index.ts'
import { railsApi, stepsApi } from './api.ts'
import { make, release, stage } from './files.ts'
import { messageResponse, messagesPersonal, noticeMachine, SepaMessage, SepaNotice } from './message.ts'
import { enqueue, instructionsPersonal, standing, takeOut } from './queue.ts'
import { read } from './read-bank-file.ts'
import { fileMachine, filesPersonal, SepaFile } from './sepa-file.ts'

const applyNotice: HandlerOf<typeof stepsApi.tell> = async ({ params }, context) => {
  const notice = await context.records.lock(SepaNotice, params.id)
  if (!notice || !noticeMachine.move(notice, 'told')) return { done: true }
  notice.dueAt = null
  await applyBankNotice(notice.transferId, notice, context)
  return { done: true }
}

const rails = implement(
  { ...railsApi, ...stepsApi },
  {
    read,
    async messages({ query: { mode, kind } }, context) {
      const page = await context.page(SepaMessage, definedOnly({ mode, kind }), 'id', 4)
      return { ...page, data: page.data.map(messageResponse) }
    },
    files: ({ query: { mode, status } }, { page }) => page(SepaFile, definedOnly({ mode, status })),
    enqueue,
    standing,
    takeOut,
    make,
    stage,
    release,
    tell: applyNotice,
  },
)

export const railsArea = area('Rails', 'Payment files for the bank, and files from the bank.', rails, {
  personal: { ...filesPersonal, ...messagesPersonal, ...instructionsPersonal },
  entities: [SepaFile, SepaMessage, SepaNotice],
  machines: [fileMachine, noticeMachine],
  deadlines: [
    {
      process: { name: 'sepa-file' },
      table: 'sepa_files',
      open: 'due_at is not null',
      operations: ['rails.make', 'rails.stage', 'rails.release'],
    },
    {
      process: { name: 'sepa-notice' },
      table: 'sepa_notices',
      open: 'due_at is not null',
      operations: ['rails.tell'],
    },
  ],
})
