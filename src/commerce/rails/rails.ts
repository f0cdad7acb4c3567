import { area } from '../../kernel/contract/area.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { applyPayeeReport, applyRailNotice } from '../transfers/index.ts'
import { railsApi } from './api.ts'
import { make, release, stage } from './files.ts'
import { messageResponse, SepaMessage } from './message.ts'
import { noticeMachine, SepaNotice } from './notice.ts'
import { railsPersonal } from './personal.ts'
import { enqueue, standing, takeOut } from './queue.ts'
import { read } from './read-bank-file.ts'
import { fileMachine, SepaFile } from './sepa-file.ts'
import { stepsApi } from './steps-api.ts'

const applyNotice: HandlerOf<typeof stepsApi.tell> = async ({ params }, context) => {
  const notice = await context.records.lock(SepaNotice, params.id)
  if (!notice || !noticeMachine.move(notice, 'told')) return { done: true }
  notice.dueAt = null
  const { transferId, notice: kind, reasonCode, payeeCheck } = notice
  if (kind !== 'payee_checked') await applyRailNotice(transferId, kind, reasonCode, context)
  else if (payeeCheck) await applyPayeeReport(transferId, payeeCheck, context)
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

const deadline = {
  agent: 'null::text',
  due: 'due_at',
  open: 'due_at is not null',
  waits: 'false',
  record: 'id',
}

export const railsArea = area(
  'Rails',
  'What goes to the bank in files, and what the bank’s own files tell.',
  rails,
  {
    personal: railsPersonal,
    entities: [SepaFile, SepaMessage, SepaNotice],
    machines: [fileMachine, noticeMachine],
    deadlines: [
      {
        ...deadline,
        process: { name: 'sepa-file' },
        table: 'sepa_files',
        operations: ['rails.make', 'rails.stage', 'rails.release'],
      },
      { ...deadline, process: { name: 'sepa-notice' }, table: 'sepa_notices', operations: ['rails.tell'] },
    ],
  },
)
