import { z } from 'zod'
import type { Records } from '../../kernel/contract/records.ts'
import { jsonName } from '../../values/json-names.ts'
import { formatMoney, moneySchema } from '../../values/money.ts'
import { joinFirstTen, type PolicyRules, policyRuleNames } from '../rules/index.ts'
import { PolicyVersion } from './policy.ts'

type StoredRules = Readonly<Record<string, unknown>>

interface Change {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
  readonly text: string
}

type Formatter = (value: never) => string

const amount: Formatter = (value: number) => formatMoney(z.decode(moneySchema, value))
const minutes: Formatter = (value: number) => `${value} ${value === 1 ? 'minute' : 'minutes'}`
const hour: Formatter = (value: number) => `${String(value).padStart(2, '0')}:00 UTC`
const percent: Formatter = (value: number) => `${value} %`
const payments: Formatter = (value: number) => `${value} ${value === 1 ? 'payment' : 'payments'}`
const onOff: Formatter = (value: boolean) => (value ? 'on' : 'off')
const text: Formatter = (value: string) => value
const orderOf = (names: readonly unknown[]): string => names.join(', ') || 'none'

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
  expiresAfterMinutes: ['End after assignment', minutes],
  expirationAction: ['What happens at the end', text],
  activeHoursStart: ['First hour', hour],
  activeHoursEnd: ['Hour at which it ends', hour],
  maxUsageCount: ['Number of payments', payments],
  amountTolerancePercent: ['Tolerance of the amount', percent],
  conversionMarginPercent: ['Margin for other currencies', percent],
  mppMethods: ['Methods of machine payments', orderOf],
}

function onlyIn(names: readonly unknown[], others: readonly unknown[]): string[] {
  const known = new Set(others)
  return names.filter(name => !known.has(name)).map(String)
}

function listChange(from: readonly unknown[], to: readonly unknown[]): string | undefined {
  const added = onlyIn(to, from)
  const removed = onlyIn(from, to)
  const parts = [
    ...(added.length > 0 ? [`added ${joinFirstTen(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${joinFirstTen(removed)}`] : []),
  ]
  return parts.length > 0 ? parts.join('; ') : undefined
}

function changeInWords(rule: keyof PolicyRules, from: unknown, to: unknown): string | undefined {
  if (Array.isArray(from) || Array.isArray(to)) {
    const [before, after] = [listOf(from), listOf(to)]
    if (rule !== 'mppMethods') return listChange(before, after)
    return String(before) === String(after) ? undefined : `${orderOf(before)} → ${orderOf(after)}`
  }
  if (from === to) return undefined
  const format = (value: unknown): string => (value === null ? 'none' : ruleWords[rule][1](value as never))
  return `${format(from)} → ${format(to)}`
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Compares rule by rule. A rule that is younger than a version counts as unset in it. */
export const policyChangesBetween = (before: StoredRules, after: StoredRules): Change[] =>
  policyRuleNames.flatMap(rule => {
    const field = jsonName(rule)
    const from = before[field] ?? null
    const to = after[field] ?? null
    const words = changeInWords(rule, from, to)
    return words === undefined ? [] : [{ field, from, to, text: `${ruleWords[rule][0]}: ${words}` }]
  })

export async function withPolicyChanges(
  records: Records,
  versions: readonly PolicyVersion[],
): Promise<(PolicyVersion & { changes: Change[] })[]> {
  const oldest = versions.at(-1)
  const { policyId, version: number } = oldest ?? { policyId: '', version: 1 }
  // The oldest version of the page is compared with one on the next page.
  const beforeOldest =
    number > 1 ? await records.findOne(PolicyVersion, { policyId, version: number - 1 }) : null
  return versions.map((version, index) => {
    const previous = versions[index + 1] ?? beforeOldest
    return { ...version, changes: previous ? policyChangesBetween(previous.rules, version.rules) : [] }
  })
}
