import { chargeMethods } from '../../mpp/index.ts'
import { quoted } from '../../statements/index.ts'
import { type ApprovalStep, areStepsLoosened, statedApprovalStep } from '../../values/approval-steps.ts'
import { jsonName } from '../../values/json-names.ts'
import { type Cents, formatMoney } from '../../values/money.ts'
import { joinFirstTen } from './contradictions.ts'
import { allowedCodesOf } from './evaluation.ts'
import { policyRuleInWords, policyRuleTitle } from './rule-words.ts'
import { encodePolicyRules, type PolicyRules, policyRuleNames } from './rules.ts'
import { isWithinActiveHours } from './time-rules.ts'

export interface WidenedRule {
  readonly field: string
  readonly from: string
  readonly to: string
}

type Named<V> = { [N in keyof PolicyRules]: PolicyRules[N] extends V ? N : never }[keyof PolicyRules]
type Comparison = (before: PolicyRules, after: PolicyRules) => boolean

/** Without a limit there is no end; a lower limit widens nothing. */
const isRaised = <T extends number | bigint>(from: T | null, to: T | null): boolean =>
  from !== null && (to === null || to > from)

const hasOther = (some: Iterable<unknown>, known: Iterable<unknown>): boolean => {
  const those = new Set(known)
  return [...some].some(one => !those.has(one))
}

/** An empty list allows everything. */
const isOpened = (from: Iterable<unknown>, to: Iterable<unknown>): boolean =>
  [...from].length > 0 && ([...to].length === 0 || hasOther(to, from))

const raised =
  (rule: Named<number | bigint | null>): Comparison =>
  (before, after) =>
    isRaised<number | bigint>(before[rule], after[rule])
const grown =
  (rule: Named<number | null>, otherwise: number): Comparison =>
  (before, after) =>
    (after[rule] ?? otherwise) > (before[rule] ?? otherwise)
const opened =
  (rule: 'merchantAllowlist' | 'allowedCountries'): Comparison =>
  (before, after) =>
    isOpened(before[rule], after[rule])
const unblocked =
  (rule: 'merchantBlocklist' | 'blockedMccs'): Comparison =>
  (before, after) =>
    hasOther(before[rule], after[rule])
const switchedOff =
  (rule: Named<boolean>): Comparison =>
  (before, after) =>
    before[rule] && !after[rule]

/** A merchant category is allowed by its group or by itself: `allowedMccs` stands for both lists. */
const categoriesOpened: Comparison = (before, after) =>
  isOpened(allowedCodesOf(before), allowedCodesOf(after))

const hoursOf = ({ activeHoursStart, activeHoursEnd }: PolicyRules): number[] =>
  Array.from({ length: 24 }, (_, hour) => hour).filter(hour =>
    isWithinActiveHours(hour, activeHoursStart ?? 0, activeHoursEnd ?? 0),
  )
const hoursOpened: Comparison = (before, after) => hasOther(hoursOf(after), hoursOf(before))

const methodsOf = ({ mppMethods }: PolicyRules): readonly string[] =>
  mppMethods.length > 0 ? mppMethods : chargeMethods

const comparisons: Readonly<Record<keyof PolicyRules, Comparison>> = {
  name: () => false,
  maxTransactionCents: raised('maxTransactionCents'),
  dailyLimitCents: raised('dailyLimitCents'),
  monthlyLimitCents: raised('monthlyLimitCents'),
  /** Without it, a person approves every intent. */
  autoApproveLimitCents: ({ autoApproveLimitCents: from }, { autoApproveLimitCents: to }) =>
    to !== null && (from === null || to > from),
  merchantAllowlist: opened('merchantAllowlist'),
  merchantBlocklist: unblocked('merchantBlocklist'),
  mccCategories: () => false,
  allowedCountries: opened('allowedCountries'),
  lockToFirstMerchant: switchedOff('lockToFirstMerchant'),
  cooldownMinutes: ({ cooldownMinutes: from }, { cooldownMinutes: to }) => (to ?? 0) < (from ?? 0),
  allowedMccs: categoriesOpened,
  blockedMccs: unblocked('blockedMccs'),
  requireIntent: switchedOff('requireIntent'),
  requireAttestation: switchedOff('requireAttestation'),
  attestationWindowMinutes: (before, after) =>
    before.requireAttestation && grown('attestationWindowMinutes', 5)(before, after),
  approval: (before, after) => areStepsLoosened(before.approval, after.approval),
  expiresAfterMinutes: raised('expiresAfterMinutes'),
  /** After `freeze` and `close` nothing can be spent. */
  expirationAction: (before, after) =>
    before.expiresAfterMinutes !== null &&
    before.expirationAction !== 'notify' &&
    after.expirationAction === 'notify',
  activeHoursStart: (before, after) =>
    before.activeHoursStart !== after.activeHoursStart && hoursOpened(before, after),
  activeHoursEnd: (before, after) =>
    before.activeHoursEnd !== after.activeHoursEnd && hoursOpened(before, after),
  maxUsageCount: raised('maxUsageCount'),
  amountTolerancePercent: grown('amountTolerancePercent', 0),
  conversionMarginPercent: grown('conversionMarginPercent', 3),
  mppMethods: (before, after) => hasOther(methodsOf(after), methodsOf(before)),
}

function onlyIn(some: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others)
  return some.filter(one => !known.has(one)).map(quoted)
}

const isListOfNames = (rule: keyof PolicyRules, value: unknown): value is readonly string[] =>
  Array.isArray(value) && rule !== 'mppMethods' && rule !== 'approval'

/** The names of a list; undefined for other rules, and for methods, whose order counts. */
function listOf(rule: keyof PolicyRules, rules: PolicyRules): readonly string[] | undefined {
  if (rule === 'allowedMccs') return [...rules.mccCategories, ...rules.allowedMccs]
  const value = rules[rule]
  return isListOfNames(rule, value) ? value : undefined
}

function listWidening(rule: keyof PolicyRules, from: readonly string[], to: readonly string[]) {
  const blocks = rule === 'merchantBlocklist' || rule === 'blockedMccs'
  const [added, removed] = [onlyIn(to, from), onlyIn(from, to)]
  const known = from.map(quoted)
  return {
    from: known.length > 0 ? joinFirstTen(known) : blocks ? 'none' : 'all',
    to: blocks ? `without ${removed.join(', ')}` : to.length === 0 ? 'all' : `also ${added.join(', ')}`,
  }
}

const statedSteps = (steps: readonly ApprovalStep[]): string =>
  steps.map(statedApprovalStep).join('; ') || 'none'

/**
 * The rules by which more may be spent after a change than before it, in words. What only narrows is left
 * out. Without a policy a person approves everything, as with `noPolicyRules`.
 */
export function policyWidenings(before: PolicyRules, after: PolicyRules): WidenedRule[] {
  const widened = policyRuleNames.filter(rule => comparisons[rule](before, after))
  if (widened.length === 0) return []
  const [oldValues, newValues] = [encodePolicyRules(before), encodePolicyRules(after)]
  return widened.map(rule => {
    if (rule === 'approval')
      return {
        field: policyRuleTitle(rule),
        from: statedSteps(before.approval),
        to: statedSteps(after.approval),
      }
    const [from, to] = [listOf(rule, before), listOf(rule, after)]
    const words =
      from && to
        ? listWidening(rule, from, to)
        : {
            from: policyRuleInWords(rule, oldValues[jsonName(rule)]),
            to: policyRuleInWords(rule, newValues[jsonName(rule)]),
          }
    return { field: policyRuleTitle(rule), ...words }
  })
}

const limitInWords = (limit: Cents | null): string => (limit === null ? 'none' : formatMoney(limit))

/** A limit that stands alone, outside a policy. */
export const limitWidening = (field: string, from: Cents | null, to: Cents | null): WidenedRule[] =>
  isRaised(from, to) ? [{ field, from: limitInWords(from), to: limitInWords(to) }] : []
