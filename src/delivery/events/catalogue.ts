import { z } from 'zod'
import { reservedEvent } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'

const status = (example: string) => z.string().meta({ examples: [example] })
const merchant = z
  .string()
  .max(200)
  .meta({ examples: ['Bookshop'] })
const reason = z.string().max(200).nullable()

const Intent = z.object({
  intentId: id('intent'),
  agentId: id('agent'),
  status: status('matched'),
  amountEuros: euros,
  merchant,
  reason,
})

/**
 * The catalogue of the contract, by the shapes that all areas share. What an operation emits it declares itself, and
 * that counts; this is what the others will have, and what is reserved.
 */
export const catalogue = {
  'intent.matched': reservedEvent('What was charged is what an intent was approved for.', Intent),
  'intent.mismatched': reservedEvent('What was charged is not what an intent was approved for.', Intent),
}
