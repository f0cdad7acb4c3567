import { area } from '../../kernel/contract/area.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { applyBankNotice } from '../transfers/index.ts'
import { railsApi, sepaFileStepsApi } from './api.ts'
import { assignDebit } from './assign-debit.ts'
import { makePaymentFile, releasePaymentFile, stagePaymentFile } from './files.ts'
import {
  messagesPersonalData,
  SepaMessage,
  SepaNotice,
  sepaMessageResponse,
  sepaNoticeMachine,
} from './message.ts'
import {
  enqueuePayment,
  instructionsPersonalData,
  queuedPaymentStatus,
  removeQueuedPayment,
} from './queue.ts'
import { readBankFile } from './read-bank-file.ts'
import { filesPersonalData, SepaFile, sepaFileMachine } from './sepa-file.ts'

const applyNotice: HandlerOf<typeof sepaFileStepsApi.tell> = async ({ params }, context) => {
  const notice = await context.records.lock(SepaNotice, params.id)
  if (!notice || !sepaNoticeMachine.move(notice, 'told')) return { done: true }
  notice.dueAt = null
  await applyBankNotice(notice.transferId, notice, context)
  return { done: true }
}

const rails = bindHandlers(
  { ...railsApi, ...sepaFileStepsApi },
  {
    read: readBankFile,
    assign: assignDebit,
    async messages({ query: { mode, kind } }, context) {
      const page = await context.page(SepaMessage, definedOnly({ mode, kind }), 'id', 4)
      return { ...page, data: page.data.map(sepaMessageResponse) }
    },
    files: ({ query: { mode, status } }, { page }) => page(SepaFile, definedOnly({ mode, status })),
    enqueue: enqueuePayment,
    standing: queuedPaymentStatus,
    takeOut: removeQueuedPayment,
    make: makePaymentFile,
    stage: stagePaymentFile,
    release: releasePaymentFile,
    tell: applyNotice,
  },
)

export const railsArea = area('Rails', 'Payment files for the bank, and files from the bank.', rails, {
  personal: { ...filesPersonalData, ...messagesPersonalData, ...instructionsPersonalData },
  entities: [SepaFile, SepaMessage, SepaNotice],
  machines: [sepaFileMachine, sepaNoticeMachine],
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
