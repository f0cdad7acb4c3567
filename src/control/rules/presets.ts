import { euCountries } from '../../values/countries.ts'
import { decodeJson, type JsonName, type JsonOf } from '../../values/json-names.ts'
import { PolicyCreate, type PolicyRules } from './rules.ts'

export interface PolicyPreset {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly explanation: Readonly<Record<string, string>>
  readonly policy: PolicyRules
}

const preset = (
  id: string,
  summary: string,
  policy: JsonOf<typeof PolicyCreate>,
  explanation: Partial<Record<JsonName<Exclude<keyof PolicyRules, 'name'>>, string>>,
): PolicyPreset => ({ id, name: policy.name, summary, explanation, policy: decodeJson(PolicyCreate, policy) })

export function findPreset(text: string): PolicyPreset | undefined {
  const wanted = text.toLowerCase()
  return policyPresets.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
}

export const policyPresets: readonly PolicyPreset[] = [
  preset(
    'conservative',
    'A new or unattended agent: small amounts, a person approves every spend.',
    {
      name: 'Conservative',
      maxTransactionEuros: 25,
      dailyLimitEuros: 50,
      monthlyLimitEuros: 250,
      autoApproveLimitEuros: null,
      requireIntent: true,
      cooldownMinutes: 5,
      amountTolerancePercent: 0,
    },
    {
      maxTransactionEuros: 'No single payment above € 25.00.',
      dailyLimitEuros: 'At most € 50.00 a day.',
      monthlyLimitEuros: 'At most € 250.00 a month.',
      autoApproveLimitEuros: 'Left empty on purpose: every intent waits for a person.',
      requireIntent: 'Card payments need an approved intent.',
      cooldownMinutes: '5 minutes between two spends, so that a loop is noticed.',
      amountTolerancePercent: 'The charged amount must be the declared amount.',
    },
  ),
  preset(
    'standard',
    'A working agent with everyday purchases: small ones need no approval, larger ones do.',
    {
      name: 'Standard',
      maxTransactionEuros: 250,
      dailyLimitEuros: 500,
      monthlyLimitEuros: 5_000,
      autoApproveLimitEuros: 50,
      requireIntent: true,
      amountTolerancePercent: 5,
    },
    {
      maxTransactionEuros: 'No single payment above € 250.00.',
      dailyLimitEuros: 'At most € 500.00 a day.',
      monthlyLimitEuros: 'At most € 5,000.00 a month.',
      autoApproveLimitEuros: 'Payments up to € 50.00 need no approval.',
      requireIntent: 'Card payments need an approved intent.',
      amountTolerancePercent: 'Shipping or rounding may add up to 5 percent.',
    },
  ),
  preset(
    'saas-subscriptions',
    'An agent that keeps software subscriptions: one merchant, the software categories, monthly rhythm.',
    {
      name: 'SaaS subscriptions',
      maxTransactionEuros: 500,
      dailyLimitEuros: 500,
      monthlyLimitEuros: 2_000,
      autoApproveLimitEuros: 100,
      mccCategories: ['software'],
      lockToFirstMerchant: true,
      requireIntent: true,
      amountTolerancePercent: 10,
    },
    {
      maxTransactionEuros: 'No single charge above € 500.00.',
      dailyLimitEuros: 'At most € 500.00 a day.',
      monthlyLimitEuros: 'At most € 2,000.00 a month for all renewals.',
      autoApproveLimitEuros: 'Renewals up to € 100.00 need no approval.',
      mccCategories:
        'Only merchants that sell software and digital services. If the category is unknown, a person must approve.',
      lockToFirstMerchant: 'The first vendor paid is the only one: one agent for each subscription.',
      requireIntent: 'Card payments need an approved intent.',
      amountTolerancePercent: 'Taxes and seats may add up to 10 percent.',
    },
  ),
  preset(
    'travel',
    'An agent that books trips in the EU: larger amounts, travel merchants, a passkey for every booking.',
    {
      name: 'Travel',
      maxTransactionEuros: 1_500,
      dailyLimitEuros: 3_000,
      monthlyLimitEuros: 10_000,
      mccCategories: ['travel'],
      allowedCountries: [...euCountries],
      requireIntent: true,
      requireAttestation: true,
      attestationWindowMinutes: 10,
      amountTolerancePercent: 15,
    },
    {
      maxTransactionEuros: 'No single booking above € 1,500.00.',
      dailyLimitEuros: 'At most € 3,000.00 a day.',
      monthlyLimitEuros: 'At most € 10,000.00 a month.',
      mccCategories:
        'Airlines, railways, hotels, car hire and local transport. If the category is unknown, a person must approve.',
      allowedCountries: 'Merchants in the 27 countries of the EU.',
      requireIntent: 'Card payments need an approved intent.',
      requireAttestation: 'A person approves every booking with a passkey.',
      attestationWindowMinutes: 'The approval is valid for 10 minutes.',
      amountTolerancePercent: 'Hotel taxes and currency may add up to 15 percent.',
    },
  ),
  preset(
    'research-agent',
    'An agent that buys papers, data and API calls: many small payments by day, with an end date.',
    {
      name: 'Research agent',
      maxTransactionEuros: 40,
      dailyLimitEuros: 100,
      monthlyLimitEuros: 800,
      autoApproveLimitEuros: 15,
      mccCategories: ['software', 'education', 'publishing'],
      activeHoursStart: 6,
      activeHoursEnd: 22,
      expiresAfterMinutes: 43_200,
      expirationAction: 'freeze',
      amountTolerancePercent: 5,
    },
    {
      maxTransactionEuros: 'No single payment above € 40.00.',
      dailyLimitEuros: 'At most € 100.00 a day.',
      monthlyLimitEuros: 'At most € 800.00 a month.',
      autoApproveLimitEuros: 'Payments up to € 15.00 need no approval.',
      mccCategories: 'Software, education and publishing. If the category is unknown, a person must approve.',
      activeHoursStart: 'The agent may spend from 06:00 UTC …',
      activeHoursEnd: '… until 22:00 UTC.',
      expiresAfterMinutes: 'Expires after 30 days. Assign the policy again to continue.',
      expirationAction: 'At expiry, the agent can no longer pay, and its cards are frozen.',
      amountTolerancePercent: 'Taxes may add up to 5 percent.',
    },
  ),
  preset(
    'machine-payments',
    'An agent that pays APIs by HTTP 402: small amounts, thousands of times, without a person.',
    {
      name: 'Machine payments',
      maxTransactionEuros: 2,
      dailyLimitEuros: 20,
      monthlyLimitEuros: 300,
      autoApproveLimitEuros: 2,
      requireIntent: true,
      maxUsageCount: 10_000,
      amountTolerancePercent: 0,
    },
    {
      maxTransactionEuros: 'No single call above € 2.00.',
      dailyLimitEuros: 'At most € 20.00 a day, so that a loop costs little.',
      monthlyLimitEuros: 'At most € 300.00 a month.',
      autoApproveLimitEuros: 'Payments up to € 2.00, so all within the limits, need no approval.',
      requireIntent: 'Card payments need an approved intent.',
      maxUsageCount: 'At most 10,000 payments. Assign the policy again to restart the count.',
      amountTolerancePercent: 'The requested price must be the declared price.',
    },
  ),
]
