import { z } from 'zod'
import { chargeMethods } from '../../mpp/index.ts'
import { approvalStepProblem, approvalStepsSchema } from '../../values/approval-steps.ts'
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
  maxTransactionCents: amount('Maximum amount of one payment. Higher amounts are denied.'),
  dailyLimitCents: amount(
    'Maximum amount held and spent per UTC day. Amounts that would exceed it are denied.',
  ),
  monthlyLimitCents: amount(
    'Maximum amount held and spent per calendar month (UTC). Amounts that would exceed it are denied.',
  ),
  autoApproveLimitCents: amount('Amounts up to this limit need no approval. Null: every intent needs one.'),
  merchantAllowlist: textList(
    'Names, hosts, `*.example.com` for all subdomains, or IBANs. If the list is not empty, only these can be paid, directly or through a processor, as in `SQ *BOOKSHOP`. Empty: no restriction.',
  ),
  merchantBlocklist: textList(
    'Names, hosts or IBANs that are never paid. An entry also blocks names that look like it, and statement texts: `Casino` blocks `PAYPAL *CASINO` and `CASINO*1234`. The blocklist takes precedence over the allowlist.',
  ),
  mccCategories: textList(
    'Groups of merchant categories: `software`, `travel`, …: the values of `group` of `GET /merchants/mcc`. If `mccCategories` or `allowedMccs` is set, only those categories are allowed. If a merchant’s category is unknown, a person must approve.',
  ),
  allowedCountries: z.array(countrySchema).default([]).meta({
    description:
      'Countries of the merchant, ISO 3166 alpha-2. If the country is unknown, a person must approve.',
  }),
  lockToFirstMerchant: flag(
    'After the first completed spend, only that merchant can be paid. Intents approved for others can no longer be paid.',
  ),
  cooldownMinutes: count(
    0,
    'Minutes that must pass after the agent’s last approved spend, even if that was cancelled later.',
  ),
  allowedMccs: z.array(mccCodeSchema).default([]).meta({ description: 'Allowed merchant category codes.' }),
  blockedMccs: z.array(mccCodeSchema).default([]).meta({
    description:
      'Blocked merchant category codes, even if they are also allowed. If the code is unknown, a person must approve.',
  }),
  requireIntent: flag('A card authorization without a matching approved intent is declined.'),
  requireAttestation: flag('Whether approval requires a passkey assertion for this exact intent.'),
  attestationWindowMinutes: count(1, 'Maximum age of the assertion in minutes. Null: 5.'),
  approval: approvalStepsSchema,
  expiresAfterMinutes: count(1, 'Minutes after assignment until the policy expires.'),
  expirationAction: z.enum(expirationActions).default('notify').meta({
    description:
      'What happens to the cards when the policy expires. After `freeze` and `close`, every spend is denied; after `notify`, the agent can still spend.',
  }),
  activeHoursStart: hour(
    'First UTC hour in which the agent may spend. Defaults to midnight if only the end is set.',
  ),
  activeHoursEnd: hour(
    'UTC hour from which the agent may no longer spend. The span may cross midnight. If start and end are equal, the agent may spend all day.',
  ),
  maxUsageCount: count(
    1,
    'Maximum number of spends: completed ones since the policy was assigned, and open intents. An approved intent counts before it is paid.',
  ),
  amountTolerancePercent: z.number().min(0).max(1_000_000).nullable().default(null).meta({
    description:
      'Percentage by which the charged amount may exceed the intent’s amount, never beyond a limit.',
  }),
  conversionMarginPercent: z.number().min(0).max(100).nullable().default(null).meta({
    description: 'Percentage added to the rate of a price in another currency. Null: 3.',
  }),
  mppMethods: z.array(z.enum(chargeMethods)).max(chargeMethods.length).default([]).meta({
    description: 'Methods of machine payments, the preferred one first. Empty: `card`, then `stripe`.',
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
    approval: approvalStepsSchema.check(({ value, issues }) => {
      const problem = approvalStepProblem(value)
      if (problem)
        issues.push({ code: 'custom', path: [...problem.path], message: problem.message, input: value })
    }),
    mppMethods: policyRuleFields.mppMethods
      .refine(methods => new Set(methods).size === methods.length, 'a method is named twice: name each once')
      .meta({ description: policyRuleFields.mppMethods.description ?? '' }),
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
