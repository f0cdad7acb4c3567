import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { type Condition, sqlCondition } from '../../kernel/contract/records.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { after } from '../../values/clock.ts'
import { transfersApi } from './api.ts'
import { challenge } from './challenge.ts'
import { challengeApi } from './challenge-api.ts'
import { create } from './create.ts'
import { paymentsOnIntents } from './intent-payments.ts'
import { limitsApi } from './limits/limits-api.ts'
import { ownerLimits } from './limits/owner-limits.ts'
import { transfersPersonal } from './personal.ts'
import { transferProcess } from './process.ts'
import { transferResponse } from './response.ts'
import { blockReactions } from './sepa/block-reactions.ts'
import { inquire } from './sepa/inquire.ts'
import { lockTransfer } from './sepa/lock-transfer.ts'
import { pain001 } from './sepa/pain001.ts'
import { PROCESS_GRACE_MS } from './sepa/sepa-transfer.ts'
import { simulate } from './sepa/simulate.ts'
import { simulateApi } from './sepa/simulate-api.ts'
import { status } from './sepa/status.ts'
import { lapse, noticed, submit, verify } from './sepa/steps.ts'
import { stepsApi } from './sepa/steps-api.ts'
import { split } from './split.ts'
import { splitApi } from './split-api.ts'
import { takeBack, takeBackApi, takeBackReactions } from './take-back.ts'
import { Transfer, transferMachine, waitsForPayee } from './transfer.ts'

/** Only a transfer by SEPA waits. In words: behind a parameter PostgreSQL would not see that the index over those has it. */
const byStatus = (status: Transfer['status'] | undefined): Condition<Transfer> =>
  status === 'created' || status === 'verifying'
    ? { status, ...sqlCondition("kind = 'sepa' and status in ('created', 'verifying')") }
    : definedOnly({ status })

/** `waitsForPayee` in the words of the index over those. */
const PAYEE_TO_CONFIRM = sqlCondition(
  "payee_confirmed_at is null and status in ('verifying', 'submitted') and (payee_check->>'result' in ('close_match', 'no_match') or (payee_check->>'result' = 'not_possible' and payee_check->>'code' is not null))",
)

const transfers = implement(transfersApi, {
  create,

  async list({ query: { from, to, status, waitsFor, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithin('transfer', { from, to }, context)
    const page = await context.page(Transfer, {
      ...definedOnly({ ...filters, ...created }),
      ...byStatus(status),
      ...(waitsFor && PAYEE_TO_CONFIRM),
    })
    return { ...page, data: page.data.map(transferResponse) }
  },

  async get({ params }, { records, refuse }) {
    const transfer = await records.findOne(Transfer, { id: params.id })
    return transfer ? transferResponse(transfer) : refuse('transfer_not_found')
  },

  pain001,

  async cancel({ params, body }, context) {
    const sepaTransfer = await lockTransfer(params.id, context)
    if (!sepaTransfer) return context.refuse('transfer_not_found')
    const reason = body.comment ? { code: 'cancelled', message: body.comment } : null
    if (!(await sepaTransfer.cancel(reason)))
      return context.refuse('transfer_not_cancellable', whyNotCancelled(sepaTransfer.transfer))
    await sepaTransfer.post()
    return transferResponse(sepaTransfer.transfer)
  },

  async confirmPayee({ params, body }, context) {
    const { now, refuse } = context
    const sepaTransfer = await lockTransfer(params.id, context)
    if (!sepaTransfer) return refuse('transfer_not_found')
    const { transfer } = sepaTransfer
    if (!waitsForPayee(transfer)) return refuse('payee_not_waiting')
    const dueAt = transfer.status === 'verifying' ? after(now, PROCESS_GRACE_MS) : transfer.dueAt
    sepaTransfer.update({ payeeConfirmedAt: now, dueAt }, body.comment)
    return transferResponse(transfer)
  },

  async recall({ params, body }, context) {
    const { now, refuse } = context
    const sepaTransfer = await lockTransfer(params.id, context)
    if (!sepaTransfer) return refuse('transfer_not_found')
    const { status, kind, recall } = sepaTransfer.transfer
    if (kind !== 'sepa' || (status !== 'submitted' && status !== 'completed'))
      return refuse('transfer_not_recallable')
    if (recall?.status === 'requested') return refuse('recall_under_way')
    const request = {
      status: 'requested',
      at: now.toISOString(),
      reason: body.reason,
      answeredAt: null,
      answer: null,
    } as const
    sepaTransfer.update({ recall: request, dueAt: now, inquiries: 0 })
    return transferResponse(sepaTransfer.transfer)
  },
})

const whyNotCancelled = ({ kind, status }: Transfer): string | undefined =>
  kind === 'sepa' && (status === 'submitted' || status === 'completed')
    ? undefined
    : `The transfer is ${status} already.`

const splits = implement(splitApi, { split })
const challenges = implement(challengeApi, { challenge })
const steps = implement(stepsApi, { status, verify, submit, inquire, lapse, noticed })

const all = implement(
  {
    ...limitsApi,
    ...transfersApi,
    ...splitApi,
    ...challengeApi,
    ...stepsApi,
    ...simulateApi,
    ...takeBackApi,
  },
  {
    ...ownerLimits.handlers,
    ...transfers.handlers,
    ...splits.handlers,
    ...challenges.handlers,
    ...steps.handlers,
    ...simulate.handlers,
    ...takeBack.handlers,
  },
)

export const transfersArea = area(
  'Transfers',
  'Money that an owner moves: between wallets, one to one or one to many, and by SEPA.',
  all,
  {
    aliases: { transfers: 'payments' },
    personal: transfersPersonal,
    entities: [Transfer],
    machines: [transferMachine],
    reactions: { ...blockReactions, ...takeBackReactions },
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
