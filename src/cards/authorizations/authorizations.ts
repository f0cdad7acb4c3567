import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Records } from '../../kernel/contract/records.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { byMerchant, definedOnly } from '../../kernel/database/entity.ts'
import { Card } from '../cards/index.ts'
import { authorizationsApi } from './api.ts'
import { authorizationMachine, CardAuthorization, CardMessage } from './authorization.ts'
import { expire } from './expire.ts'
import { explainDecision, remediesOf, sourceInWords, summaryOf } from './explanation.ts'
import { paymentsOnIntents } from './intent-payments.ts'
import { receive } from './network/door.ts'
import { notice } from './network/notice.ts'
import { take } from './network/take.ts'
import { authorizationsPersonal } from './personal.ts'
import { simulate } from './simulate.ts'

interface Named {
  readonly id: string
  readonly authorizationId: string
}

/** By our id, or by the network's: `POST /simulate/card/authorize` answers that one. Ours wins, and is unique. */
async function find({ id: cardId, authorizationId: id }: Named, records: Records) {
  const [ours, theirs] = await Promise.all([
    records.findOne(CardAuthorization, { id, cardId }),
    records.findOne(CardAuthorization, { processorRef: id, cardId }),
  ])
  return ours ?? theirs
}

const authorizations = implement(authorizationsApi, {
  take,
  notice,
  expire,
  simulate,
  // The pipeline hands the raw bytes to `receive` in place of this.
  receive: () => ({}),

  async list({ params, query: { from, to, merchant, limit: _limit, cursor: _cursor, ...filters } }, context) {
    const card = await context.records.findOne(Card, { id: params.id })
    if (!card) return context.refuse('card_not_found')
    const created = await createdWithin('cardauth', { from, to }, context)
    return context.page(CardAuthorization, {
      cardId: card.id,
      ...definedOnly({ ...filters, ...created }),
      ...byMerchant(merchant),
    })
  },

  async get({ params }, { records, refuse }) {
    return (await find(params, records)) ?? refuse('authorization_not_found')
  },

  async explanation({ params }, { records, refuse }) {
    const row = await find(params, records)
    if (!row) return refuse('authorization_not_found')
    const { decision, source, intentId, createdAt } = row
    const checks = decision?.checks ?? []
    return {
      authorizationId: row.id,
      decisionId: decision?.id ?? null,
      decidedAt: createdAt,
      summary: summaryOf(row),
      intentId,
      paidFrom: sourceInWords[source],
      rules: decision ? explainDecision(checks) : [],
      remedies: decision && !decision.allowed ? remediesOf(checks) : [],
    }
  },
})

export const authorizationsArea = area(
  'Card Authorizations',
  'Payments by card: asked for by the network, decided, cleared, given back.',
  authorizations,
  {
    personal: authorizationsPersonal,
    entities: [CardAuthorization, CardMessage],
    machines: [authorizationMachine],
    receives: { receive },
    findPayments: paymentsOnIntents,
    deadlines: [
      {
        process: { name: 'card-authorization' },
        table: 'card_authorizations',
        record: 'id',
        agent: 'agent_id',
        due: 'expires_at',
        open: 'expires_at is not null',
        waits: 'false',
        operations: ['authorizations.expire'],
      },
    ],
  },
)
