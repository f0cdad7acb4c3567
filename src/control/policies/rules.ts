import { z } from 'zod'
import { euros } from '../../kernel/money.ts'
import { country } from '../../kernel/schemas.ts'

export const expirationActions = ['freeze', 'close', 'notify'] as const

const words = (description: string) => z.array(z.string()).default([]).meta({ description })
const flag = (description: string) => z.boolean().default(false).meta({ description })
const amount = (description: string) => euros.nullable().default(null).meta({ description })
const count = (least: number, description: string) =>
  z.int().min(least).max(2_147_483_647).nullable().default(null).meta({ description })
const hour = (description: string) => z.int().min(0).max(23).nullable().default(null).meta({ description })
export const code = z.string().regex(/^\d{4}$/, 'a merchant category code has four digits')

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
  merchantAllowlist: words('Names or hosts, `*.example.com` allowed. If not empty, only these are paid.'),
  merchantBlocklist: words('Names or hosts that are never paid; it wins over the allowlist.'),
  mccCategories: words('Named groups of merchant categories: `software`, `travel`, …'),
  allowedCountries: z
    .array(country)
    .default([])
    .meta({ description: 'Countries of the merchant, ISO 3166 alpha-2.' }),
  lockToFirstMerchant: flag('After the first completed spend, only that merchant.'),
  cooldownMinutes: count(0, 'Minutes between two approved spends of the agent.'),
  allowedMccs: z
    .array(code)
    .default([])
    .meta({ description: 'Single merchant category codes that are admitted.' }),
  blockedMccs: z
    .array(code)
    .default([])
    .meta({ description: 'Single merchant category codes that are refused; they win.' }),
  requireIntent: flag('A card authorization without a matching approved intent is declined.'),
  requireAttestation: flag('Approval needs a passkey assertion over this very intent.'),
  attestationWindowMinutes: count(1, 'How old that assertion may be; 5 where it is null.'),
  expiresAfterMinutes: count(1, 'Minutes after assignment when the policy expires.'),
  expirationAction: z
    .enum(expirationActions)
    .default('notify')
    .meta({ description: 'What happens to the agent’s cards then.' }),
  activeHoursStart: hour('First UTC hour in which the agent may spend.'),
  activeHoursEnd: hour('UTC hour at which it may no more; the span may wrap midnight.'),
  maxUsageCount: count(1, 'Completed spends under this policy.'),
  amountTolerancePercent: z
    .number()
    .min(0)
    .max(1_000_000)
    .nullable()
    .default(null)
    .meta({ description: 'How far the actual amount may exceed the intent’s.' }),
}

export const PolicyCreate = z.strictObject(rules).meta({ id: 'PolicyCreateRequest' })
export type Rules = z.output<typeof PolicyCreate>

export const ruleNames = Object.keys(rules) as (keyof Rules)[]

/** The rules of a policy by themselves: what a copy takes and a version keeps. */
export const rulesOf = (policy: Rules): Rules =>
  Object.fromEntries(ruleNames.map(name => [name, policy[name]])) as Rules
