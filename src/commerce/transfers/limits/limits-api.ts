import { z } from 'zod'

import { event } from '../../../kernel/contract/events.ts'

import { get, missing, put } from '../../../kernel/contract/operation.ts'
import { id } from '../../../values/ids.ts'
import { euros } from '../../../values/money.ts'

import { plansInWords } from './limits.ts'

const mode = z.enum(['test', 'live'])

const LimitsRecord = z
  .object({
    ownerId: id('customer'),
    mode,
    singleEuros: euros.meta({ description: 'The most that one transfer by SEPA may be.' }),
    dailyEuros: euros.meta({ description: 'The most that may leave by SEPA in a day of UTC.' }),
    day: z.iso.date(),
    usedEuros: euros.meta({
      description: 'Taken of the day: all of its transfers but those that never left.',
    }),
    remainingEuros: euros,
  })
  .meta({ id: 'TransferLimits' })

export const limitsApi = {
  limits: get('/transfers/limits', {
    summary: 'See how much may leave by SEPA',
    callers: ['key'],
    scope: 'transfers:read',
    returns: [200, LimitsRecord],
  }),
  setLimits: put('/customers/{id}/transfer-limits', {
    summary: 'Set how much may leave an owner’s wallets by SEPA',
    description: `Null is what the plan says, for one transfer and for a day: ${plansInWords}.`,
    callers: ['dash'],
    body: z.strictObject({ mode, singleEuros: euros.nullable(), dailyEuros: euros.nullable() }),
    example: { mode: 'test', singleEuros: 20_000, dailyEuros: null },
    returns: [200, LimitsRecord],
    fails: { customer_not_found: missing('customer') },
    emits: {
      'transfer.limits_changed': event(
        'How much may leave by SEPA has changed.',
        z.object({
          ownerId: id('customer'),
          mode,
          singleEuros: euros,
          dailyEuros: euros,
        }),
      ),
    },
  }),
}
