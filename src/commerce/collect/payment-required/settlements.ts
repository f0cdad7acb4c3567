import { area } from '../../../kernel/contract/area.ts'
import type { Deadline } from '../../../kernel/contract/deadline.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import { definedOnly } from '../../../kernel/database/entity.ts'
import { PaymentRequest } from '../request.ts'
import type { Payee } from './answers.ts'
import { settlementsApi } from './api.ts'
import { askAcquirer } from './ask-acquirer.ts'
import { paidEndpoint } from './endpoint.ts'
import { settlementProcess } from './process.ts'
import { findRequestArticle } from './request-article.ts'
import { Settlement, settlementMachine } from './settlement.ts'

/** Gives whoever has paid what the request unlocks; nothing else of the request, which is its owner's. */
const payee = {
  find: ({ id = '' }, context) => findRequestArticle(id, context),
  async unlocked({ id, requestId, amountEuros, settledAt, createdAt }, { records }) {
    const { description, unlocks } = await records.findOneOrFail(PaymentRequest, { id: requestId ?? '' })
    const paidAt = settledAt ?? createdAt
    return { requestId: requestId ?? '', settlementId: id, amountEuros, description, paidAt, unlocks }
  },
} satisfies Payee<unknown>

const settlements = implement(settlementsApi, {
  pay: paidEndpoint(payee),
  payByPost: paidEndpoint(payee),
  askAcquirer,

  list: ({ query: { requestId, status, challengeId } }, { page }) =>
    page(Settlement, definedOnly({ requestId, status, challengeId })),

  async get({ params }, { records, refuse }) {
    return (await records.findOne(Settlement, { id: params.id })) ?? refuse('settlement_not_found')
  },
})

const outcome: Deadline = {
  process: settlementProcess,
  table: 'mpp_settlements',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: "status = 'charging'",
  waits: 'false',
  operations: ['settlements.askAcquirer'],
}

export const settlementsArea = area(
  'Machine Payments Received',
  'Being paid by programs: the address of each request, and the charges of cards.',
  settlements,
  { entities: [Settlement], machines: [settlementMachine], deadlines: [outcome] },
)
