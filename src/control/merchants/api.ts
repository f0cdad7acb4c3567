import { z } from 'zod'
import { agent_required, get, list, missing } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { euros } from '../../values/money.ts'
import { ownAgent } from '../../values/schemas.ts'
import { mccGroup, mccGroupNames } from './mcc-groups.ts'

const code = z.string().meta({ examples: ['5942'] })

export const MerchantCategory = z
  .object({
    code,
    description: z.string().meta({ examples: ['Bookshops'] }),
    groups: z.array(z.string()).meta({
      description: 'The groups that a policy can name it by.',
      examples: [['publishing', 'retail']],
    }),
  })
  .meta({ id: 'MerchantCategory' })

const MccGroup = z
  .object({
    name: z.string().meta({ examples: ['publishing'] }),
    description: z.string().meta({ examples: ['Books, magazines, newspapers and papers'] }),
    codes: z.array(code).meta({ description: 'All its merchant category codes.' }),
  })
  .meta({ id: 'MccGroup' })

const ResolvedMerchant = z
  .object({
    query: z.string().meta({ examples: ['PAYPAL *SPOTIFYAB'] }),
    name: z.string().meta({ examples: ['Spotify'] }),
    mcc: z
      .string()
      .nullable()
      .meta({
        description: 'The category that it usually has; null where nothing says so.',
        examples: ['5815'],
      }),
    category: z
      .string()
      .nullable()
      .meta({ examples: ['Digital books, films and music'] }),
    processor: z
      .string()
      .nullable()
      .meta({ description: 'Through whom it is paid, where the text says so.', examples: ['PayPal'] }),
    confidence: z.number().meta({
      description:
        '0.95 for a merchant that is known, 0.7 where a known name is followed by other words, 0.5 where a word tells the category, 0.3 where only the noise was taken away, 0 where nothing was left.',
      examples: [0.95],
    }),
  })
  .meta({ id: 'ResolvedMerchant' })

const Suggestion = z
  .object({
    merchant: z.string().meta({ description: 'As it was named last.', examples: ['Bookshop'] }),
    pattern: z.string().meta({ description: 'What to write into the allowlist.', examples: ['bookshop'] }),
    spends: z.int().meta({ examples: [3] }),
    amountEuros: euros,
    lastUsedAt: instant,
    allowed: z.boolean().meta({ description: 'Whether the agent’s allowlist has it already.' }),
    suggested: z.boolean(),
    reason: z.string().meta({ examples: ['Paid 3 times, € 76.50 in all.'] }),
  })
  .meta({ id: 'AllowlistSuggestion' })

const reading = { callers: ['key', 'agent'], scope: 'merchants:read' } as const

export const merchantsApi = {
  resolve: get('/merchants/resolve', {
    ...reading,
    summary: 'Tell who is behind the text of a card statement',
    description:
      'Takes away processors, numbers, dates and places, and looks the rest up. The same text always has the same answer; nothing is asked of anybody.',
    query: z.strictObject({
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .meta({ description: 'As it stands on the statement.', examples: ['PAYPAL *SPOTIFYAB'] }),
    }),
    returns: [200, ResolvedMerchant],
  }),
  mcc: list('/merchants/mcc', {
    ...reading,
    summary: 'List merchant category codes',
    description:
      'Those of ISO 18245 and of the card schemes, by code. From 3000 to 3999 each belongs to one airline, car hire company or hotel chain.',
    filters: {
      group: z
        .string()
        .max(64)
        .refine(name => mccGroup(name), `no such group; there are ${mccGroupNames.join(', ')}`)
        .optional()
        .meta({ description: 'Only those of this group: see `GET /mcc-groups`.' }),
      q: z
        .string()
        .max(100)
        .optional()
        .meta({ description: 'Only those with this text in the description, or whose code begins with it.' }),
    },
    item: MerchantCategory,
  }),
  category: get('/merchants/mcc/{code}', {
    ...reading,
    summary: 'Look a merchant category code up',
    returns: [200, MerchantCategory],
    fails: { mcc_not_found: [404, 'No such merchant category code. GET /merchants/mcc lists them.'] },
  }),
  groups: list('/mcc-groups', {
    ...reading,
    summary: 'List the groups of merchant category codes',
    description: 'What `mccCategories` of a policy can name.',
    item: MccGroup,
  }),
  suggestions: list('/merchants/allowlist-suggestions', {
    ...reading,
    summary: 'Suggest merchants for an agent’s allowlist',
    description:
      'From its last 2,000 payments; what is approved and not paid yet does not count. What was paid once only, is on the blocklist or looks like another merchant is shown, and not suggested.',
    filters: { agentId: ownAgent },
    item: Suggestion,
    fails: { agent_required, agent_not_found: missing('agent') },
  }),
}
