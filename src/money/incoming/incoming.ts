import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly, halfOpenRange } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import { incomingApi } from './api.ts'
import { assign } from './assign.ts'
import { readFile } from './bank-file.ts'
import { creditMachine, IncomingCredit } from './incoming-credit.ts'
import { receive } from './receive.ts'

const incoming = implement(incomingApi, {
  async simulate({ body: { bankReference = newId('booking'), ...body } }, context) {
    const { records, tenant, now, refuse } = context
    if (tenant.mode !== 'test') return refuse('test_mode_only')
    const booking = { source: 'simulation', origin: tenant.ownerId, bankReference, part: 0 } as const
    const received = { ...body, ...booking, reason: null, valueDate: now.toISOString().slice(0, 10) }
    // Limits the match to the caller's own wallets.
    const [credit] = await receive([received], { ...tenant, fallback: tenant }, context)
    return credit ?? records.findOneOrFail(IncomingCredit, { mode: tenant.mode, ...booking })
  },

  list: ({ query: { status, mode, ownerId, walletId, from, to } }, { page }) =>
    page(
      IncomingCredit,
      definedOnly({ status, mode, ownerId, walletId, createdAt: halfOpenRange(from, to) }),
    ),

  readFile: ({ body }, context) => readFile(body.content, body.mode, context),

  assign: ({ params, body }, context) => assign(params.id, body.walletId, context),
})

export const incomingArea = area(
  'Incoming',
  'What has been sent by SEPA: matched to a wallet, or waiting to be.',
  incoming,
  {
    entities: [IncomingCredit],
    machines: [creditMachine],
  },
)
