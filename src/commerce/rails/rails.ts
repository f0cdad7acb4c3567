import { area } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { railsApi, sepaFileSteps, sepaQueueApi } from './api.ts'
import { assignDebit } from './assign-debit.ts'
import { SepaMessage, SepaNotice, sepaMessageResponse, sepaNoticeMachine } from './message.ts'
import { sepaFileProcess } from './process.ts'
import {
  enqueuePayment,
  instructionsPersonalData,
  queuedPaymentStatus,
  removeQueuedPayment,
} from './queue.ts'
import { readBankFile } from './read-bank-file.ts'
import { LATE_FILE_SQL, OPEN_FILE_SQL, SepaFile, sepaFileMachine } from './sepa-file.ts'

const byReport = (report: SepaFile['report'] | undefined) =>
  report === 'late' ? sqlCondition(LATE_FILE_SQL) : definedOnly({ report })

const rails = bindHandlers(
  { ...railsApi, ...sepaQueueApi },
  {
    read: readBankFile,
    assign: assignDebit,
    async messages({ query: { mode, kind } }, context) {
      const page = await context.page(SepaMessage, definedOnly({ mode, kind }), 'id', 4)
      return { ...page, data: page.data.map(sepaMessageResponse) }
    },
    files: ({ query: { mode, status, report } }, { page }) =>
      page(SepaFile, { ...definedOnly({ mode, status }), ...byReport(report) }),
    enqueue: enqueuePayment,
    standing: queuedPaymentStatus,
    takeOut: removeQueuedPayment,
  },
)

export const railsArea = area('Rails', 'Payment files for the bank, and files from the bank.', rails, {
  personal: instructionsPersonalData,
  entities: [SepaFile, SepaMessage, SepaNotice],
  machines: [sepaFileMachine, sepaNoticeMachine],
  steps: sepaFileSteps,
  openRecords: [
    {
      process: sepaFileProcess,
      select: `select id, owner_id, mode, null::text as agent_id from sepa_files where ${OPEN_FILE_SQL}`,
    },
  ],
  deadlines: [
    {
      process: sepaFileProcess,
      table: 'sepa_files',
      open: 'due_at is not null',
      waits: 'true',
      // An instant payment has ten seconds: with a round of the sweep they suffice also where no worker lives.
      rescueAfterMs: "case when scheme = 'sct_inst' then 3000 end",
      activities: ['makeSepaFile', 'stageSepaFile', 'handOverSepaFile', 'sayReportIsLate', 'takeReport'],
    },
    {
      process: { name: 'sepa-notice' },
      table: 'sepa_notices',
      open: 'due_at is not null and file_id is null',
      activities: ['takeNotice'],
    },
  ],
})
