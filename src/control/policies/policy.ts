import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import { flag, nullable, record, tenantTable, textArray } from '../../kernel/database/entity.ts'
import { after, minutes } from '../../values/clock.ts'
import { expirationActions, type Rules, rulesOf, rulesOnRecord } from '../rules/index.ts'
import { keptUnder, type Overridden, overriddenAfter, type switches } from './overrides.ts'

const policySchema = defineEntity({
  ...tenantTable('Policy', 'policies', 'agentId'),
  properties: {
    ...record('policy'),
    agentId: nullable.string(),
    templateId: nullable.string(),
    assignedAt: nullable.instant(),
    expiresAt: nullable.instant(),
    expiredAt: nullable.instant(),
    deletedAt: nullable.instant(),
    overridden: p.json<Overridden>().onCreate(() => ({})),
    version: p.integer().onCreate(() => 1),
    name: p.text(),
    maxTransactionEuros: nullable.euros('max_transaction_cents'),
    dailyLimitEuros: nullable.euros('daily_limit_cents'),
    monthlyLimitEuros: nullable.euros('monthly_limit_cents'),
    autoApproveLimitEuros: nullable.euros('auto_approve_limit_cents'),
    merchantAllowlist: textArray(),
    merchantBlocklist: textArray(),
    mccCategories: textArray(),
    allowedCountries: textArray(),
    lockToFirstMerchant: flag(),
    cooldownMinutes: nullable.integer(),
    allowedMccs: textArray(),
    blockedMccs: textArray(),
    requireIntent: flag(),
    requireAttestation: flag(),
    attestationWindowMinutes: nullable.integer(),
    expiresAfterMinutes: nullable.integer(),
    expirationAction: p.enum(expirationActions),
    activeHoursStart: nullable.integer(),
    activeHoursEnd: nullable.integer(),
    maxUsageCount: nullable.integer(),
    amountTolerancePercent: nullable.number(),
  },
})

/** What an agent's policy is a copy of: a template of the owner, or a preset, which has no id. */
export interface Source {
  readonly id: string | null
  readonly rules: Rules
}

export class Policy extends policySchema.class {
  /** Read off what it has, never given. */
  declare [OptionalProps]?: 'overrides'
  /** It had an end before it was changed, and somebody waits for that. */
  declare hadEnd?: boolean

  /** The rules that were set for this agent alone. */
  get overrides(): string[] {
    return Object.keys(this.overridden)
  }

  /** Other rules from its owner: for an agent's own policy they are set for that agent alone. */
  set(rules: Partial<Rules>, now: Date): void {
    const before = rulesOf(this)
    if (this.agentId) this.overridden = overriddenAfter(this.overridden, before, { ...before, ...rules })
    this.revise(rules, now)
  }

  /** Switched on for this agent it stays on, also where its template says so already. */
  switch(rule: (typeof switches)[number], value: boolean, now: Date): void {
    const isNoChange = this[rule] === value
    this.set({ [rule]: value }, now)
    if (value && isNoChange && !(rule in this.overridden))
      this.overridden = { ...this.overridden, [rule]: value }
  }

  /** Other rules for the same policy: one version more. */
  revise(rules: Partial<Rules>, now: Date): void {
    Object.assign(this, rules)
    this.version++
    this.schedule(now)
  }

  /** When it ends for its agent; a template never does. One that has ended goes on if that is not yet. */
  schedule(now: Date): void {
    const { assignedAt, expiresAfterMinutes } = this
    if (this.expiresAt) this.hadEnd = true
    this.expiresAt =
      assignedAt && expiresAfterMinutes ? after(assignedAt, minutes(expiresAfterMinutes)) : null
    if (!this.expiresAt || this.expiresAt > now) this.expiredAt = null
  }

  /** The instant at which it ends, for as long as that is still to come. */
  pendingEnd(): Date | null {
    return this.agentId && !this.expiredAt && !this.deletedAt ? this.expiresAt : null
  }

  isWaitedFor(): boolean {
    return Boolean(this.hadEnd || this.expiresAt)
  }

  /** Whether it has ended by this. */
  expire(now: Date): boolean {
    const end = this.pendingEnd()
    if (!end || end > now) return false
    this.expiredAt = now
    return true
  }

  /** Becomes what the template says at this moment, for an agent that has it since then; but for what was set for it alone. */
  copyFrom({ id, rules }: Source, assignedAt: Date, now: Date): void {
    const own = rulesOf(this)
    const kept = keptUnder(this.overridden, own, id === null || id !== this.templateId)
    const onRecord = rulesOnRecord(rules)
    this.templateId = id
    this.assignedAt = assignedAt
    this.overridden = Object.fromEntries(kept.map(rule => [rule, onRecord[rule]]))
    this.revise({ ...rules, ...Object.fromEntries(kept.map(rule => [rule, own[rule]])) }, now)
  }
}
policySchema.setClass(Policy)

const versionSchema = defineEntity({
  ...tenantTable('PolicyVersion', 'policy_versions', 'agentId'),
  properties: {
    ...record('policyversion'),
    policyId: p.text(),
    agentId: nullable.string(),
    version: p.integer(),
    /** As the contract writes them: what a decision was made by, readable for ever. */
    rules: p.json<Record<string, unknown>>(),
    changedByType: p.text(),
    changedById: nullable.string(),
  },
})

export class PolicyVersion extends versionSchema.class {}
versionSchema.setClass(PolicyVersion)
