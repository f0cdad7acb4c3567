import { isDeepStrictEqual } from 'node:util'
import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import {
  booleanColumn,
  nullable,
  recordColumns,
  tenantTable,
  textArrayColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { ChargeMethod } from '../../mpp/index.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { type JsonName, jsonName } from '../../values/json-names.ts'
import type { PersonalData } from '../../values/personal.ts'
import {
  encodePolicyRules,
  expirationActions,
  type PolicyRules,
  pickPolicyRules,
  policyRuleNames,
} from '../rules/index.ts'

/** The rules that were set for one agent alone, with the template's value of each, as the contract writes it. */
type OverriddenRules = Readonly<Partial<Record<JsonName<keyof PolicyRules>, unknown>>>

export const policyToggles = ['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const
type Toggle = (typeof policyToggles)[number]

const isToggle = (rule: string): rule is Toggle => policyToggles.includes(rule as Toggle)

/** A rule that is set back to the template's value is no longer overridden. */
function overriddenAfter(
  overridden: OverriddenRules,
  before: PolicyRules,
  after: PolicyRules,
): OverriddenRules {
  const oldValues = encodePolicyRules(before)
  const newValues = encodePolicyRules(after)
  const next = { ...overridden }
  for (const rule of policyRuleNames.map(jsonName)) {
    if (rule === 'name' || isDeepStrictEqual(oldValues[rule], newValues[rule])) continue
    const templateValue = rule in overridden ? overridden[rule] : oldValues[rule]
    if (isDeepStrictEqual(newValues[rule], templateValue)) delete next[rule]
    else next[rule] = templateValue
  }
  return next
}

/**
 * The overridden rules that a copy keeps: all under the same template, and under another one the toggles that
 * are on.
 */
const keptOverrides = (
  overridden: OverriddenRules,
  rules: PolicyRules,
  isSameTemplate: boolean,
): (keyof PolicyRules)[] =>
  policyRuleNames.filter(
    rule => jsonName(rule) in overridden && (isSameTemplate || (isToggle(rule) && rules[rule])),
  )

const policySchema = defineEntity({
  ...tenantTable('Policy', 'policies', 'agentId'),
  properties: {
    ...recordColumns('policy'),
    agentId: nullable.string(),
    templateId: plain(nullable.string()),
    assignedAt: nullable.instant(),
    expiresAt: nullable.instant(),
    expiredAt: nullable.instant(),
    deletedAt: nullable.instant(),
    overridden: personal(
      p.json<OverriddenRules>().onCreate(() => ({})),
      'payment',
      'contract',
      'empty',
    ),
    version: p.integer().onCreate(() => 1),
    name: personal(p.text(), 'words', 'contract', 'word'),
    maxTransactionCents: nullable.cents('max_transaction_cents'),
    dailyLimitCents: nullable.cents('daily_limit_cents'),
    monthlyLimitCents: nullable.cents('monthly_limit_cents'),
    autoApproveLimitCents: nullable.cents('auto_approve_limit_cents'),
    merchantAllowlist: personal(textArrayColumn(), 'payment', 'contract', 'empty'),
    merchantBlocklist: personal(textArrayColumn(), 'payment', 'contract', 'empty'),
    mccCategories: plain(textArrayColumn()),
    allowedCountries: plain(textArrayColumn()),
    lockToFirstMerchant: booleanColumn(),
    cooldownMinutes: nullable.integer(),
    allowedMccs: plain(textArrayColumn()),
    blockedMccs: plain(textArrayColumn()),
    requireIntent: booleanColumn(),
    requireAttestation: booleanColumn(),
    attestationWindowMinutes: nullable.integer(),
    approval: plain(p.json<ApprovalStep[]>().onCreate(() => [])),
    expiresAfterMinutes: nullable.integer(),
    expirationAction: plain(p.enum(expirationActions)),
    activeHoursStart: nullable.integer(),
    activeHoursEnd: nullable.integer(),
    maxUsageCount: nullable.integer(),
    amountTolerancePercent: nullable.number(),
    conversionMarginPercent: nullable.number(),
    mppMethods: plain(textArrayColumn().$type<ChargeMethod[]>()),
  },
})

export interface PolicySource {
  readonly id: string | null
  readonly rules: PolicyRules
}

export class Policy extends policySchema.class {
  declare [OptionalProps]?: 'overrides'
  /** Whether the policy had an end before this change, for which the agent's process may wait. */
  declare hadEnd?: boolean

  get overrides(): string[] {
    return Object.keys(this.overridden)
  }

  changeRules(rules: Partial<PolicyRules>, now: Date): void {
    const before = pickPolicyRules(this)
    if (this.agentId) this.overridden = overriddenAfter(this.overridden, before, { ...before, ...rules })
    this.revise(rules, now)
  }

  /** A rule that is switched on becomes an override, even if the template has it on. */
  toggle(rule: Toggle, value: boolean, now: Date): void {
    const isUnchanged = this[rule] === value
    this.changeRules({ [rule]: value }, now)
    if (value && isUnchanged && !(rule in this.overridden))
      this.overridden = { ...this.overridden, [rule]: value }
  }

  revise(rules: Partial<PolicyRules>, now: Date): void {
    Object.assign(this, rules)
    this.version++
    this.scheduleEnd(now)
  }

  /**
   * Uses `expiresAfterMinutes`; a template has no end. A policy that has ended continues if its end moves to
   * the future.
   */
  scheduleEnd(now: Date): void {
    const { assignedAt, expiresAfterMinutes } = this
    if (this.expiresAt) this.hadEnd = true
    this.expiresAt =
      assignedAt && expiresAfterMinutes ? addMs(assignedAt, minutes(expiresAfterMinutes)) : null
    if (!this.expiresAt || this.expiresAt > now) this.expiredAt = null
  }

  pendingEnd(): Date | null {
    return this.agentId && !this.expiredAt && !this.deletedAt ? this.expiresAt : null
  }

  /** Whether the agent's process must learn of a change, because the policy has or had an end. */
  needsProcess(): boolean {
    return Boolean(this.hadEnd || this.expiresAt)
  }

  expire(now: Date): boolean {
    const end = this.pendingEnd()
    if (!end || end > now) return false
    this.expiredAt = now
    return true
  }

  copyFrom(source: PolicySource, assignedAt: Date, now: Date): void {
    const { id, rules } = source
    const kept = keptUnder(this, source)
    const sourceValues = encodePolicyRules(rules)
    const copied = this.rulesAsCopyOf(source)
    this.templateId = id
    this.assignedAt = assignedAt
    this.overridden = Object.fromEntries(kept.map(jsonName).map(rule => [rule, sourceValues[rule]]))
    this.revise(copied, now)
  }

  /** The rules that `copyFrom` would leave. */
  rulesAsCopyOf(source: PolicySource): PolicyRules {
    const kept = keptUnder(this, source).map(rule => [rule, this[rule]])
    return { ...source.rules, ...Object.fromEntries(kept) }
  }
}
policySchema.setClass(Policy)

const keptUnder = (policy: Policy, { id }: PolicySource): (keyof PolicyRules)[] =>
  keptOverrides(policy.overridden, pickPolicyRules(policy), id !== null && id === policy.templateId)

const versionSchema = defineEntity({
  ...tenantTable('PolicyVersion', 'policy_versions', 'agentId'),
  ...personalTable({ about: { person: ['changed_by_id'] } }),
  properties: {
    ...recordColumns('policyversion'),
    policyId: plain(p.text()),
    agentId: nullable.string(),
    version: p.integer(),
    /** The rules as the contract writes them, so that decisions made by this version can always be replayed. */
    rules: personal(p.json<Record<string, unknown>>(), 'payment', 'contract', 'empty'),
    changedByType: plain(p.text()),
    changedById: plain(nullable.string()),
  },
})

export class PolicyVersion extends versionSchema.class {}
versionSchema.setClass(PolicyVersion)

export const policiesPersonalData = {
  counters: {
    personal: {
      first_merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
    },
    plain: ['subject', 'period'],
  },
  reservations: {
    personal: {},
    plain: ['cause_type', 'cause_id', 'subjects'],
  },
} as const satisfies PersonalData
