import type { Tenant } from '../../../kernel/contract/actor.ts'
import { area } from '../../../kernel/contract/area.ts'
import type { Deadline } from '../../../kernel/contract/deadline.ts'
import { bindHandlers } from '../../../kernel/contract/operation.ts'
import {
  deadlineInRows,
  hasDeadlineCondition,
  statusCondition,
} from '../../../kernel/database/deadline-rows.ts'
import { definedOnly } from '../../../kernel/database/entity.ts'
import { getRecord } from '../../../kernel/database/get-record.ts'
import { settlementsApi } from './api.ts'
import { heedAcquirerNotice, inquireCharge } from './charges.ts'
import { type PaidArticleSource, paymentRequiredHandler } from './endpoint.ts'
import { findRequestArticle } from './offer.ts'
import { Settlement, settlementMachine } from './settlement.ts'

/** A payer gets what the request unlocks. The other members of the request are only for its owner. */
const payee = {
  find: ({ id = '' }, context) => findRequestArticle(id, context),
  unlocked({ id: settlementId, amountCents, settledAt, createdAt }, request) {
    if (!request) throw new Error(`${settlementId}: it pays no request`)
    const { id: requestId, description, unlocks } = request
    return { requestId, settlementId, amountCents, description, paidAt: settledAt ?? createdAt, unlocks }
  },
} satisfies PaidArticleSource<unknown>

const endpoint = paymentRequiredHandler(payee)

const byStatus = (status: Settlement['status'] | undefined, tenant: Tenant) =>
  statusCondition(status, {
    exceptional: ['declined'],
    open: ['charging'],
    isOpen: hasDeadlineCondition('mpp_settlements', tenant),
  })

const settlements = bindHandlers(settlementsApi, {
  pay: endpoint,
  payByPost: endpoint,
  askAcquirer: inquireCharge,
  notice: heedAcquirerNotice,

  list: ({ query: { requestId, status, challengeId } }, { page, tenant }) =>
    page(Settlement, { ...definedOnly({ requestId, challengeId }), ...byStatus(status, tenant) }),

  get: getRecord(Settlement, 'settlement_not_found'),
})

const outcome: Deadline = {
  process: { name: 'settlement' },
  ...deadlineInRows('mpp_settlements', { isFollowed: false }),
  operations: ['settlements.askAcquirer'],
}

export const settlementsArea = area(
  'Machine Payments Received',
  'Machine payments received: the address of each request, and the card charges.',
  settlements,
  {
    entities: [Settlement],
    machines: [settlementMachine],
    deadlines: [outcome],
  },
)
