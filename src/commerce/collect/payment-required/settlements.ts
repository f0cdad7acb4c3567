import { area } from '../../../kernel/contract/area.ts'
import type { Deadline } from '../../../kernel/contract/deadline.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import { definedOnly } from '../../../kernel/database/entity.ts'
import { settlementsApi } from './api.ts'
import { askAcquirer } from './charges.ts'
import { type Payee, paidEndpoint } from './endpoint.ts'
import { findRequestArticle } from './offer.ts'
import { Settlement, settlementMachine, settlementsPersonal } from './settlement.ts'

/** A payer gets what the request unlocks. The other members of the request are only for its owner. */
const payee = {
  find: ({ id = '' }, context) => findRequestArticle(id, context),
  unlocked({ id: settlementId, amountCents, settledAt, createdAt }, request) {
    if (!request) throw new Error(`${settlementId}: it pays no request`)
    const { id: requestId, description, unlocks } = request
    return { requestId, settlementId, amountCents, description, paidAt: settledAt ?? createdAt, unlocks }
  },
} satisfies Payee<unknown>

const endpoint = paidEndpoint(payee)

const settlements = implement(settlementsApi, {
  pay: endpoint,
  payByPost: endpoint,
  askAcquirer,

  list: ({ query: { requestId, status, challengeId } }, { page }) =>
    page(Settlement, definedOnly({ requestId, status, challengeId })),

  async get({ params }, { records, refuse }) {
    return (await records.findOne(Settlement, { id: params.id })) ?? refuse('settlement_not_found')
  },
})

const outcome: Deadline = {
  process: { name: 'settlement' },
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
  'Machine payments received: the address of each request, and the card charges.',
  settlements,
  {
    personal: settlementsPersonal,
    entities: [Settlement],
    machines: [settlementMachine],
    deadlines: [outcome],
  },
)
