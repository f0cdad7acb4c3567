import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { given } from '../../kernel/database/entity.ts'
import { after } from '../../values/clock.ts'
import { transfersApi } from './api.ts'
import { paymentsOnIntents } from './intent-payments.ts'
import { limitsApi } from './limits/limits-api.ts'
import { ownerLimits } from './limits/owner-limits.ts'
import { pay } from './pay.ts'
import { transferProcess } from './process.ts'
import { shown } from './response.ts'
import { stopReactions } from './sepa/block-reactions.ts'
import { pain001 } from './sepa/pain001.ts'
import { takeUp, UNATTENDED } from './sepa/sepa-transfer.ts'
import { simulate } from './sepa/simulate.ts'
import { simulateApi } from './sepa/simulate-api.ts'
import { status } from './sepa/status.ts'
import { inquire, lapse, noticed, submit, verify } from './sepa/steps.ts'
import { stepsApi } from './sepa/steps-api.ts'
import { split } from './split.ts'
import { splitApi } from './split-api.ts'
import { Transfer, transferMachine } from './transfer.ts'

const transfers = implement(transfersApi, {
  create: pay,

  async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithin('transfer', { from, to }, context)
    const found = await context.page(Transfer, given({ ...filters, ...created }))
    return { ...found, data: found.data.map(shown) }
  },

  async get({ params }, { em, refuse }) {
    const transfer = await em.findOne(Transfer, { id: params.id })
    return transfer ? shown(transfer) : refuse('transfer_not_found')
  },

  pain001,

  async cancel({ params, body }, context) {
    const course = await takeUp(params.id, context)
    if (!course) return context.refuse('transfer_not_found')
    const reason = body.comment ? { code: 'cancelled', message: body.comment } : null
    if (!(await course.cancel(reason)))
      return context.refuse('transfer_not_cancellable', whyNotCancelled(course.transfer))
    await course.post()
    return shown(course.transfer)
  },

  async confirmPayee({ params, body }, context) {
    const { now, refuse } = context
    const course = await takeUp(params.id, context)
    if (!course) return refuse('transfer_not_found')
    const { transfer } = course
    if (transfer.status !== 'verifying' || !transfer.isToBeConfirmed()) return refuse('payee_not_waiting')
    course.update({ payeeConfirmedAt: now, dueAt: after(now, UNATTENDED) }, body.comment)
    return shown(transfer)
  },

  async recall({ params, body }, context) {
    const { now, refuse } = context
    const course = await takeUp(params.id, context)
    if (!course) return refuse('transfer_not_found')
    const { status, kind, recall } = course.transfer
    if (kind !== 'sepa' || (status !== 'submitted' && status !== 'completed'))
      return refuse('transfer_not_recallable')
    if (recall?.status === 'requested') return refuse('recall_under_way')
    const asked = { status: 'requested', at: now.toISOString(), reason: body.reason } as const
    course.update({ recall: { ...asked, answeredAt: null, answer: null }, dueAt: now, inquiries: 0 })
    return shown(course.transfer)
  },
})

const whyNotCancelled = ({ kind, status }: Transfer): string | undefined =>
  kind === 'sepa' && (status === 'submitted' || status === 'completed')
    ? undefined
    : `The transfer is ${status} already.`

const divided = implement(splitApi, { split })
const processed = implement(stepsApi, { status, verify, submit, inquire, lapse, noticed })

/** All of it is of one noun: told apart by who calls. */
const all = implement(
  { ...limitsApi, ...transfersApi, ...splitApi, ...stepsApi, ...simulateApi },
  {
    ...ownerLimits.handlers,
    ...transfers.handlers,
    ...divided.handlers,
    ...processed.handlers,
    ...simulate.handlers,
  },
)

export const transfersArea = area(
  'Transfers',
  'Money that an owner moves: between wallets, one to one or one to many, and by SEPA.',
  all,
  {
    entities: [Transfer],
    machines: [transferMachine],
    reactions: stopReactions,
    findPayments: paymentsOnIntents,
    openRecords: [
      {
        process: transferProcess,
        select:
          'select id, owner_id, mode, agent_id, amount_cents from transfers where due_at is not null and workflow_id is not null',
      },
    ],
    deadlines: [
      {
        process: transferProcess,
        table: 'transfers',
        record: 'id',
        agent: 'agent_id',
        due: 'due_at',
        open: 'due_at is not null',
        waits: 'workflow_id is not null',
        operations: ['transfers.verify', 'transfers.submit', 'transfers.lapse', 'transfers.inquire'],
      },
    ],
  },
)
