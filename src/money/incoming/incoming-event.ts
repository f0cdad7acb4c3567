import { z } from 'zod'
import { creditSources, unmatchedReasons } from '../../iso20022/credit.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { payableMembers } from '../references/index.ts'
import { creditMachine } from './incoming-credit.ts'

/** An event about a credit names no sender: that is for its owner to read. */
export const IncomingEvent = z.object({
  creditId: id('credit'),
  walletId: id('wallet').nullable(),
  status: z.enum(creditMachine.states),
  amountEuros: euros,
  reason: z.enum(unmatchedReasons).nullable(),
  source: z.enum(creditSources),
  ...payableMembers,
})
