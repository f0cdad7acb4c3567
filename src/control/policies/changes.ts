import { z } from 'zod'
import { euros, formatEuros } from '../../values/money.ts'
import { listed, type Rules, ruleNames } from '../rules/index.ts'

/** The rules of a version as they are kept: as the contract writes them. */
type Kept = Readonly<Record<string, unknown>>

export interface Change {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
  readonly text: string
}

type Words = (value: never) => string

const money: Words = (value: number) => formatEuros(z.decode(euros, value))
const minutes: Words = (value: number) => `${value} ${value === 1 ? 'minute' : 'minutes'}`
const hour: Words = (value: number) => `${String(value).padStart(2, '0')}:00 UTC`
const percent: Words = (value: number) => `${value} %`
const payments: Words = (value: number) => `${value} ${value === 1 ? 'payment' : 'payments'}`
const onOff: Words = (value: boolean) => (value ? 'on' : 'off')
const text: Words = (value: string) => value

const titles: Readonly<Record<keyof Rules, readonly [title: string, words: Words]>> = {
  name: ['Name', text],
  maxTransactionEuros: ['Limit for one payment', money],
  dailyLimitEuros: ['Daily limit', money],
  monthlyLimitEuros: ['Monthly limit', money],
  autoApproveLimitEuros: ['Limit up to which no person is asked', money],
  merchantAllowlist: ['Allowed merchants', text],
  merchantBlocklist: ['Blocked merchants', text],
  mccCategories: ['Admitted groups of merchant categories', text],
  allowedCountries: ['Allowed countries', text],
  lockToFirstMerchant: ['Bound to the first merchant', onOff],
  cooldownMinutes: ['Time between two spends', minutes],
  allowedMccs: ['Admitted merchant categories', text],
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
}

/** What only one of two lists has. */
function onlyIn(names: readonly unknown[], others: readonly unknown[]): string[] {
  const known = new Set(others)
  return names.filter(name => !known.has(name)).map(String)
}

/** In a list it is told what came and what went; its order says nothing. */
function listChange(from: readonly unknown[], to: readonly unknown[]): string | undefined {
  const [added, removed] = [onlyIn(to, from), onlyIn(from, to)]
  const parts = [
    ...(added.length > 0 ? [`added ${listed(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${listed(removed)}`] : []),
  ]
  return parts.length > 0 ? parts.join('; ') : undefined
}

function difference(field: keyof Rules, from: unknown, to: unknown): string | undefined {
  if (Array.isArray(from) || Array.isArray(to)) return listChange(listOf(from), listOf(to))
  if (from === to) return undefined
  const words = (value: unknown): string => (value === null ? 'none' : titles[field][1](value as never))
  return `${words(from)} → ${words(to)}`
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** What was changed, rule by rule. A rule that is younger than the version was not set. */
export const changesBetween = (before: Kept, after: Kept): Change[] =>
  ruleNames.flatMap(field => {
    const [from, to] = [before[field] ?? null, after[field] ?? null]
    const words = difference(field, from, to)
    return words === undefined ? [] : [{ field, from, to, text: `${titles[field][0]}: ${words}` }]
  })
