import { z } from 'zod'
import { event, reservedEvent } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'

/** The events of a noun that have the same `data`, each by its verb and its sentence. */
const each = <T extends z.ZodType>(
  noun: string,
  sentences: Record<string, string>,
  data: T,
): Record<string, T> =>
  Object.fromEntries(
    Object.entries(sentences).map(([verb, sentence]) => [`${noun}.${verb}`, event(sentence, data)]),
  )

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
const Dispute = z.object({ disputeId: id('dispute'), transactionId: id('txn'), status: status('open') })

/**
 * The catalogue of the contract, by the shapes that all areas share. What an operation emits it declares itself, and
 * that counts; this is what the others will have, and what is reserved.
 */
export const catalogue = {
  'intent.matched': reservedEvent('What was charged is what an intent was approved for.', Intent),
  'intent.mismatched': reservedEvent('What was charged is not what an intent was approved for.', Intent),
  ...each(
    'dispute',
    {
      created: 'A payment is disputed.',
      updated: 'A dispute goes on.',
      resolved: 'A dispute has been decided.',
    },
    Dispute,
  ),
}
