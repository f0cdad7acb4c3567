import { z } from 'zod'
import { mccGroupNames } from '../../control/merchants/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { agentRequiredRefusal, notFound } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { moneySchema } from '../../values/money.ts'
import { agentIdSchema } from '../../values/schemas.ts'

const code = z.string().meta({ examples: ['5942'] })

export const MerchantCategory = z
  .object({
    code,
    description: z.string().meta({ examples: ['Bookshops'] }),
    groups: z.array(z.string()).meta({
      description: 'The groups that contain the category: the values of `mccCategories` of a policy or card.',
      examples: [['publishing', 'retail']],
    }),
  })
  .meta({ id: 'MerchantCategory' })

const ResolvedMerchant = z
  .object({
    query: z.string().meta({ examples: ['PAYPAL *SPOTIFYAB'] }),
    name: z.string().meta({ examples: ['Spotify'] }),
    mcc: z
      .string()
      .nullable()
      .meta({
        description: 'The merchant’s usual category. Null if the text does not show it.',
        examples: ['5815'],
      }),
    category: z
      .string()
      .nullable()
      .meta({ examples: ['Digital books, films and music'] }),
    processor: z
      .string()
      .nullable()
      .meta({ description: 'The payment processor, if the text names one.', examples: ['PayPal'] }),
    confidence: z.number().meta({
      description:
        '0.95 for a known merchant, 0.7 if other words follow a known name, 0.5 if a word tells the category, 0.3 if only noise was removed, 0 if nothing was left.',
      examples: [0.95],
    }),
  })
  .meta({ id: 'ResolvedMerchant' })

const Suggestion = z
  .object({
    merchant: z.string().meta({ description: 'The latest spelling of the name.', examples: ['Bookshop'] }),
    pattern: z.string().meta({ description: 'The entry to add to the allowlist.', examples: ['bookshop'] }),
    spends: z.int().meta({ examples: [3] }),
    amountCents: moneySchema,
    lastUsedAt: instant,
    allowed: z.boolean().meta({ description: 'Whether the agent’s allowlist already matches the merchant.' }),
    suggested: z.boolean(),
    reason: z.string().meta({ examples: ['Paid 3 times, € 76.50 in all.'] }),
  })
  .meta({ id: 'AllowlistSuggestion' })

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'merchants:read' })

export const merchantsApi = {
  resolve: readers.get('/merchants/resolve', {
    summary: 'Resolve the text of a card statement to a merchant',
    description:
      'Removes payment processors, numbers, dates and places from the text, and looks up the rest. The same text always gives the same answer; no other system is called.',
    query: z.strictObject({
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .meta({ description: 'The text on the statement.', examples: ['PAYPAL *SPOTIFYAB'] }),
    }),
    returns: [200, ResolvedMerchant],
  }),
  mcc: readers.list('/merchants/mcc', {
    summary: 'List merchant category codes',
    description:
      'The codes of ISO 18245 and of the card schemes, in order. Each code from 3000 to 3999 belongs to one airline, car hire company or hotel chain.',
    filters: {
      group: z.enum(mccGroupNames).optional().meta({ description: 'Only codes of this group.' }),
      q: z
        .string()
        .max(100)
        .optional()
        .meta({ description: 'Only codes that begin with this text, or contain it in their description.' }),
    },
    item: MerchantCategory,
  }),
  category: readers.getOne('/merchants/mcc/{code}', 'a merchant category code', MerchantCategory, {
    mcc_not_found: [404, 'No such merchant category code. GET /merchants/mcc lists them.'],
  }),
  suggestions: readers.list('/merchants/allowlist-suggestions', {
    summary: 'Suggest merchants for an agent’s allowlist',
    description:
      'Based on the agent’s last 2,000 payments; unpaid intents do not count. A merchant that was paid only once, is on the blocklist or looks like another one is listed, but not suggested.',
    filters: { agentId: agentIdSchema },
    item: Suggestion,
    fails: { agent_required: agentRequiredRefusal, agent_not_found: notFound('agent') },
  }),
}
