import { z } from 'zod'
import { approvalStepInWords } from '../../values/approval-steps.ts'
import { decodeJson } from '../../values/json-names.ts'
import { formatMoney, moneySchema } from '../../values/money.ts'
import { type PolicyRules, policyRuleFields } from './rules.ts'

type Formatter = (value: never) => string

const amount: Formatter = (value: number) => formatMoney(z.decode(moneySchema, value))
const minutes: Formatter = (value: number) => `${value} ${value === 1 ? 'minute' : 'minutes'}`
const hour: Formatter = (value: number) => `${String(value).padStart(2, '0')}:00 UTC`
const percent: Formatter = (value: number) => `${value} %`
const payments: Formatter = (value: number) => `${value} ${value === 1 ? 'payment' : 'payments'}`
const onOff: Formatter = (value: boolean) => (value ? 'on' : 'off')
const text: Formatter = (value: string) => value
const steps: Formatter = (value: unknown) =>
  decodeJson(policyRuleFields.approval, value).map(approvalStepInWords).join('; ') || 'none'
const orderOf: Formatter = (names: readonly unknown[]) => names.join(', ') || 'none'

const ruleWords: Readonly<Record<keyof PolicyRules, readonly [title: string, format: Formatter]>> = {
  name: ['Name', text],
  maxTransactionCents: ['Limit for one payment', amount],
  dailyLimitCents: ['Daily limit', amount],
  monthlyLimitCents: ['Monthly limit', amount],
  autoApproveLimitCents: ['Auto-approve limit', amount],
  merchantAllowlist: ['Allowed merchants', text],
  merchantBlocklist: ['Blocked merchants', text],
  mccCategories: ['Allowed groups of merchant categories', text],
  allowedCountries: ['Allowed countries', text],
  lockToFirstMerchant: ['Bound to the first merchant', onOff],
  cooldownMinutes: ['Time between two spends', minutes],
  allowedMccs: ['Allowed merchant categories', text],
  blockedMccs: ['Blocked merchant categories', text],
  requireIntent: ['Cards need an approved intent', onOff],
  requireAttestation: ['Approval needs a passkey', onOff],
  attestationWindowMinutes: ['Age of the passkey’s approval', minutes],
  approval: ['Steps of approval', steps],
  expiresAfterMinutes: ['End after assignment', minutes],
  expirationAction: ['What happens at the end', text],
  activeHoursStart: ['First hour', hour],
  activeHoursEnd: ['Hour at which it ends', hour],
  maxUsageCount: ['Number of payments', payments],
  amountTolerancePercent: ['Tolerance of the amount', percent],
  conversionMarginPercent: ['Margin for other currencies', percent],
  mppMethods: ['Methods of machine payments', orderOf],
}

export const policyRuleTitle = (rule: keyof PolicyRules): string => ruleWords[rule][0]

/** The value as the contract writes it, in words. */
export const policyRuleInWords = (rule: keyof PolicyRules, value: unknown): string =>
  value === null ? 'none' : ruleWords[rule][1](value as never)
