import { z } from 'zod'
import { euros } from '../../values/money.ts'
import { country, formattedText } from '../../values/schemas.ts'
import { mccGroup, mccGroupNames, patternProblem } from '../merchants/index.ts'

export const expirationActions = ['freeze', 'close', 'notify'] as const

const words = (description: string, one = z.string()) => z.array(one).default([]).meta({ description })
const flag = (description: string) => z.boolean().default(false).meta({ description })
const amount = (description: string) => euros.nullable().default(null).meta({ description })
const count = (least: number, description: string) =>
  z.int().min(least).max(2_147_483_647).nullable().default(null).meta({ description })
const hour = (description: string) => z.int().min(0).max(23).nullable().default(null).meta({ description })
const code = formattedText(/^\d{4}$/, 4, 'a merchant category code has four digits')

/** What an owner can rule; the contract's PolicyCreateRequest. A null or absent member is no rule. */
export const rules = {
  name: z
    .string()
    .min(1)
    .meta({ examples: ['Research budget'] }),
  maxTransactionEuros: amount('One amount above it is denied.'),
  dailyLimitEuros: amount('Held and spent in the UTC day plus this amount above it is denied.'),
  monthlyLimitEuros: amount('Held and spent in the calendar month plus this amount above it is denied.'),
  autoApproveLimitEuros: amount('At or below it no person is asked. Null: every intent needs approval.'),
  merchantAllowlist: words(
    'Names, hosts, `*.example.com` for all below one, or IBANs. If not empty, only these are paid, by the names that they have here; through a processor, as in `SQ *BOOKSHOP`, too. An empty list is no rule.',
  ),
  merchantBlocklist: words(
    'Names, hosts or IBANs that are never paid, nor what only looks like them, nor what statements write for them: `Casino` stops `PAYPAL *CASINO` and `CASINO*1234`, too. It wins over the allowlist.',
  ),
  mccCategories: words(
    'Named groups of merchant categories: `software`, `travel`, …; `GET /mcc-groups` has them all. With `allowedMccs` they are what is admitted; a merchant whose category is not known waits for a person.',
  ),
  allowedCountries: z.array(country).default([]).meta({
    description: 'Countries of the merchant, ISO 3166 alpha-2. Where it is not known, a person is asked.',
  }),
  lockToFirstMerchant: flag(
    'After the first completed spend, only that merchant: what was approved for another one is not paid any more.',
  ),
  cooldownMinutes: count(
    0,
    'Minutes since the agent’s last approved spend, also one that was cancelled later.',
  ),
  allowedMccs: z
    .array(code)
    .default([])
    .meta({ description: 'Single merchant category codes that are admitted.' }),
  blockedMccs: z.array(code).default([]).meta({
    description:
      'Single merchant category codes that are refused; they win. Where it is not known, a person is asked.',
  }),
  requireIntent: flag('A card authorization without a matching approved intent is declined.'),
  requireAttestation: flag('Approval needs a passkey assertion over this very intent.'),
  attestationWindowMinutes: count(1, 'How old that assertion may be; 5 where it is null.'),
  expiresAfterMinutes: count(1, 'Minutes after assignment when the policy expires.'),
  expirationAction: z.enum(expirationActions).default('notify').meta({
    description:
      'What happens to the agent’s cards then. After `freeze` and `close` every spend is denied; after `notify` the agent goes on spending under the policy, and `policy.expired` has told you.',
  }),
  activeHoursStart: hour('First UTC hour in which the agent may spend; midnight where only the end is set.'),
  activeHoursEnd: hour(
    'UTC hour at which it may no more; the span may wrap midnight, and is all day where it is equal to the start.',
  ),
  maxUsageCount: count(
    1,
    'Completed spends since the policy was assigned, and open intents: what is approved and not yet paid counts already.',
  ),
  amountTolerancePercent: z
    .number()
    .min(0)
    .max(1_000_000)
    .nullable()
    .default(null)
    .meta({ description: 'How far the actual amount may exceed the intent’s; never beyond a limit.' }),
}

/** So many entries a list of a policy may have: enough for every category and country there is. */
const MOST = { merchants: 1_000, groups: 100, countries: 250, codes: 1_500 } as const

const pattern = z
  .string()
  .max(253)
  .check(({ value, issues }) => {
    const message = patternProblem(value)
    if (message) issues.push({ code: 'custom', message, input: value })
  })

const groupName = z
  .string()
  .max(64)
  .refine(name => mccGroup(name), `no such group; there are ${mccGroupNames.join(', ')}`)

type ListRule = 'merchantAllowlist' | 'merchantBlocklist' | 'mccCategories' | 'allowedCountries' | MccRule
type MccRule = 'allowedMccs' | 'blockedMccs'

/** What is asked of a list when it is written. A policy that was written before is read as it is. */
const written = <T extends z.ZodString>(rule: ListRule, most: number, one: T) =>
  z
    .array(one)
    .max(most)
    .default([])
    .meta({ description: rules[rule].description ?? '' })

export const PolicyCreate = z
  .strictObject({
    ...rules,
    name: rules.name.max(200),
    merchantAllowlist: written('merchantAllowlist', MOST.merchants, pattern),
    merchantBlocklist: written('merchantBlocklist', MOST.merchants, pattern),
    mccCategories: written('mccCategories', MOST.groups, groupName),
    allowedCountries: written('allowedCountries', MOST.countries, country),
    allowedMccs: written('allowedMccs', MOST.codes, code),
    blockedMccs: written('blockedMccs', MOST.codes, code),
  })
  .meta({ id: 'PolicyCreateRequest' })

const Kept = z.strictObject(rules)
export type Rules = z.output<typeof Kept>

export const ruleNames = Object.keys(rules) as (keyof Rules)[]

/** The rules of a policy by themselves: what a copy takes. */
export const rulesOf = (policy: Rules): Rules =>
  Object.fromEntries(ruleNames.map(name => [name, policy[name]])) as Rules

/** As the contract writes them: what a version keeps. */
export const rulesOnRecord = (policy: Rules): Record<string, unknown> => z.encode(Kept, rulesOf(policy))

/** As a version has kept them. */
export const rulesFromRecord = (record: Readonly<Record<string, unknown>>): Rules => Kept.parse(record)
