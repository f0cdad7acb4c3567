import { z } from 'zod'
import { keysOf } from '../../values/collections.ts'
import { decodeJson, encodeJson } from '../../values/json-names.ts'
import { moneySchema } from '../../values/money.ts'
import { countrySchema, patternTextSchema } from '../../values/schemas.ts'
import { mccGroupNames, mccsOfGroup, patternProblem } from '../merchants/index.ts'

export const expirationActions = ['freeze', 'close', 'notify'] as const

const textList = (description: string) => z.array(z.string()).default([]).meta({ description })
const flag = (description: string) => z.boolean().default(false).meta({ description })
const amount = (description: string) => moneySchema.nullable().default(null).meta({ description })
const count = (least: number, description: string) =>
  z.int().min(least).max(2_147_483_647).nullable().default(null).meta({ description })
const hour = (description: string) => z.int().min(0).max(23).nullable().default(null).meta({ description })
export const mccCodeSchema = patternTextSchema(/^\d{4}$/, 4, 'a merchant category code has four digits')

/** The fields of the contract's PolicyCreateRequest. A null or missing member is no rule. */
export const policyRuleFields = {
  name: z
    .string()
    .min(1)
    .meta({ examples: ['Research budget'] }),
  maxTransactionCents: amount('A single amount above it is denied.'),
  dailyLimitCents: amount(
    'An amount is denied if, with all that is held and spent in the UTC day, it exceeds this limit.',
  ),
  monthlyLimitCents: amount(
    'An amount is denied if, with all that is held and spent in the calendar month, it exceeds this limit.',
  ),
  autoApproveLimitCents: amount('Amounts up to this one need no person. Null: every intent needs approval.'),
  merchantAllowlist: textList(
    'Names, hosts, `*.example.com` for all hosts below one, or IBANs. If the list is not empty, only these are paid, directly or through a processor, as in `SQ *BOOKSHOP`. An empty list is no rule.',
  ),
  merchantBlocklist: textList(
    'Names, hosts or IBANs that are never paid. An entry also stops names that look like it, and the texts of statements: `Casino` stops `PAYPAL *CASINO` and `CASINO*1234`. The blocklist wins over the allowlist.',
  ),
  mccCategories: textList(
    'Named groups of merchant categories: `software`, `travel`, …; `GET /mcc-groups` has them all. If `mccCategories` or `allowedMccs` is set, only their categories are admitted; if the category of a merchant is not known, a person is asked.',
  ),
  allowedCountries: z.array(countrySchema).default([]).meta({
    description:
      'Countries of the merchant, ISO 3166 alpha-2. If the country is not known, a person is asked.',
  }),
  lockToFirstMerchant: flag(
    'After the first completed spend only that merchant is paid: intents approved for others are not paid any more.',
  ),
  cooldownMinutes: count(
    0,
    'Minutes that must pass after the agent’s last approved spend, even if that was cancelled later.',
  ),
  allowedMccs: z
    .array(mccCodeSchema)
    .default([])
    .meta({ description: 'Single merchant category codes that are admitted.' }),
  blockedMccs: z.array(mccCodeSchema).default([]).meta({
    description:
      'Single merchant category codes that are refused, even if they are admitted too. If the code is not known, a person is asked.',
  }),
  requireIntent: flag('A card authorization without a matching approved intent is declined.'),
  requireAttestation: flag('Approval needs a passkey assertion over this very intent.'),
  attestationWindowMinutes: count(1, 'How many minutes old that assertion may be; null means 5.'),
  expiresAfterMinutes: count(1, 'Minutes after assignment when the policy expires.'),
  expirationAction: z.enum(expirationActions).default('notify').meta({
    description:
      'What happens to the agent’s cards when the policy expires. After `freeze` and `close` every spend is denied; after `notify` the agent goes on spending under the policy, and the event `policy.expired` tells you.',
  }),
  activeHoursStart: hour('First UTC hour in which the agent may spend; midnight if only the end is set.'),
  activeHoursEnd: hour(
    'UTC hour from which on the agent may not spend. The span may wrap midnight; if start and end are equal it is all day.',
  ),
  maxUsageCount: count(
    1,
    'Completed spends since the policy was assigned, and open intents: an approved intent counts before it is paid.',
  ),
  amountTolerancePercent: z.number().min(0).max(1_000_000).nullable().default(null).meta({
    description: 'By how many percent the amount charged may exceed the intent’s; never beyond a limit.',
  }),
}

/** Bounds the entries of each list. There is room for every category and country. */
const MAX_ENTRIES = { merchants: 1_000, groups: 100, countries: 250, codes: 1_500 } as const

export const merchantPatternSchema = z
  .string()
  .max(253)
  .check(({ value, issues }) => {
    const message = patternProblem(value)
    if (message) issues.push({ code: 'custom', message, input: value })
  })

const groupName = z
  .string()
  .max(64)
  .refine(name => mccsOfGroup(name), `no such group; there are ${mccGroupNames.join(', ')}`)

type ListRule = 'merchantAllowlist' | 'merchantBlocklist' | 'mccCategories' | 'allowedCountries' | MccRule
type MccRule = 'allowedMccs' | 'blockedMccs'

/** Limits of new lists. Policies that were stored before these limits remain readable. */
const writableList = <T extends z.ZodString>(rule: ListRule, max: number, entry: T) =>
  z
    .array(entry)
    .max(max)
    .default([])
    .meta({ description: policyRuleFields[rule].description ?? '' })

export const PolicyCreate = z
  .strictObject({
    ...policyRuleFields,
    name: policyRuleFields.name.max(200),
    merchantAllowlist: writableList('merchantAllowlist', MAX_ENTRIES.merchants, merchantPatternSchema),
    merchantBlocklist: writableList('merchantBlocklist', MAX_ENTRIES.merchants, merchantPatternSchema),
    mccCategories: writableList('mccCategories', MAX_ENTRIES.groups, groupName),
    allowedCountries: writableList('allowedCountries', MAX_ENTRIES.countries, countrySchema),
    allowedMccs: writableList('allowedMccs', MAX_ENTRIES.codes, mccCodeSchema),
    blockedMccs: writableList('blockedMccs', MAX_ENTRIES.codes, mccCodeSchema),
  })
  .meta({ id: 'PolicyCreateRequest' })

const StoredRules = z.strictObject(policyRuleFields)
export type PolicyRules = z.output<typeof StoredRules>

export const noPolicyRules: PolicyRules = StoredRules.parse({ name: 'no rules' })

export const policyRuleNames = keysOf(policyRuleFields)

export const pickPolicyRules = (policy: PolicyRules): PolicyRules =>
  Object.fromEntries(policyRuleNames.map(name => [name, policy[name]])) as PolicyRules

export const encodePolicyRules = (policy: PolicyRules): Record<string, unknown> =>
  encodeJson(StoredRules, pickPolicyRules(policy))

export const decodePolicyRules = (stored: Readonly<Record<string, unknown>>): PolicyRules =>
  decodeJson(StoredRules, stored)
