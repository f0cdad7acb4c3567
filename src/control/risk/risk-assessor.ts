import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { bigintAsText } from '../../kernel/database/bulk-sql.ts'
import { newId } from '../../values/ids.ts'
import { jsonName } from '../../values/json-names.ts'
import { type FrozenAgent, freezeAgent, updateFrozenAgents } from '../agents/index.ts'
import { merchantKey } from '../merchants/index.ts'
import type { SpendingAgent } from '../policies/index.ts'
import type { RiskResult } from '../rules/index.ts'
import {
  countDeclaredSpend,
  emptyRiskProfile,
  learnApprovedSpend,
  type RiskProfile,
  type RiskSpend,
} from './profile.ts'
import { isRecordableRisk, type RiskDecidedSpend, type RiskEventToEmit, riskEventsOf } from './risk-events.ts'
import { type RiskAlertRow, type RiskRecordRow, riskAlertMachine } from './risk-record.ts'
import { type RiskSettings, riskSettingsFromRow, scoreRisk } from './score.ts'

export interface AssessedSpendKey {
  readonly agentId: string
  readonly merchant: string
}

/** The form in which `risk_open` returns it, since JSON has no instants. */
type StoredProfile = Omit<RiskProfile, 'lastAt'> & { readonly lastAt: string | null }

interface RiskData extends Row {
  readonly config: Parameters<typeof riskSettingsFromRow>[0]
  readonly profiles: readonly StoredProfile[]
  readonly known: readonly string[]
}

const OPEN = 'select config, profiles, known from risk_open($1, $2, $3, $4)'
const WRITE = 'select risk_write($1, $2, $3, $4, $5, $6, $7)'

const knownKey = (agentId: string, merchant: string): string => `${agentId} ${merchantKey(merchant)}`

const profileOf = (stored: StoredProfile): RiskProfile => ({
  ...stored,
  lastAt: stored.lastAt === null ? null : new Date(stored.lastAt),
})

/**
 * Reads the profiles of these agents in one statement, at the same cost however much they have spent. The
 * caller has opened their counters, without which no profile changes.
 */
export async function loadRiskAssessor(
  sql: Sql,
  tenantNow: TenantNow,
  spends: readonly AssessedSpendKey[],
): Promise<RiskAssessor> {
  const { ownerId, mode } = tenantNow.tenant
  const agents = spends.map(({ agentId }) => agentId)
  const merchants = spends.map(({ merchant }) => merchantKey(merchant))
  const [data] = agents.length > 0 ? await sql<RiskData>(OPEN, [ownerId, mode, agents, merchants]) : []
  return new RiskAssessor(tenantNow, data ?? { config: null, profiles: [], known: [] })
}

const AMOUNT = jsonName('amountCents')

/** A record as `risk_write` reads it: the names of its members are those of JSON. */
const inJson = ({ amountCents, ...record }: RiskRecordRow) => ({
  ...record,
  [AMOUNT]: amountCents,
})

export class RiskAssessor {
  readonly #tenantNow: TenantNow
  readonly #settings: RiskSettings
  readonly #profiles: Map<string, RiskProfile>
  readonly #known: Set<string>
  readonly #changedProfiles = new Set<RiskProfile>()
  readonly #newMerchants: { agentId: string; merchant: string }[] = []
  readonly #records: RiskRecordRow[] = []
  readonly #alerts: RiskAlertRow[] = []
  readonly #frozen: FrozenAgent[] = []

  constructor(tenantNow: TenantNow, { config, profiles, known }: RiskData) {
    this.#tenantNow = tenantNow
    this.#settings = riskSettingsFromRow(config)
    this.#known = new Set(known)
    this.#profiles = new Map(profiles.map(stored => [stored.agentId, profileOf(stored)]))
  }

  /**
   * Null if the owner has switched scoring off. A spend counts towards velocity, unless it pays an intent
   * that was counted at its declaration.
   */
  assess(agentId: string, spend: RiskSpend, { isDeclared = false } = {}): RiskResult | null {
    const { now: at } = this.#tenantNow
    const profile = isDeclared ? this.#profileOf(agentId) : this.#profileToChange(agentId)
    if (!isDeclared) countDeclaredSpend(profile, at)
    if (!this.#settings.enabled) return null
    // The merchant of a declared intent was learnt then, under the name of the declaration.
    const isKnownMerchant = isDeclared || this.#known.has(knownKey(agentId, spend.merchant))
    return scoreRisk({ spend, at, profile, isKnownMerchant }, this.#settings)
  }

  learn(agentId: string, spend: RiskSpend, declaredAt: Date): void {
    learnApprovedSpend(this.#profileToChange(agentId), spend, declaredAt)
    const key = knownKey(agentId, spend.merchant)
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.#newMerchants.push({ agentId, merchant: merchantKey(spend.merchant) })
  }

  /** Freezes the agent, opens an alert and keeps a record, as the risk requires. Returns the events to emit. */
  applyOutcome(agent: SpendingAgent, spend: RiskDecidedSpend): RiskEventToEmit[] {
    const { decision, amountCents, merchant } = spend
    const { risk } = decision
    if (!risk) return []
    const { now } = this.#tenantNow
    const cause = { reason: decision.reason, alertId: newId('alert') }
    const frozen = risk.outcome === 'freeze' ? freezeAgent(agent, cause, now) : undefined
    const alertId = frozen ? cause.alertId : null
    const common = {
      createdAt: now,
      agentId: agent.id,
      score: risk.score,
      signals: [...risk.parts],
      subjectType: spend.type,
      subjectId: spend.id,
    }
    if (frozen) this.#frozen.push(frozen)
    if (alertId) {
      const status = riskAlertMachine.initial
      this.#alerts.push({ ...common, id: alertId, status, merchantKey: merchantKey(merchant) })
    }
    if (isRecordableRisk(risk)) {
      const references = { decisionId: decision.id, alertId, amountCents, merchant }
      this.#records.push({ ...common, ...references, id: newId('riskevent'), outcome: risk.outcome })
    }
    return riskEventsOf(spend, agent.id, { risk, alertId, frozen })
  }

  async write(sql: Sql): Promise<void> {
    const { tenant, now } = this.#tenantNow
    const changes = [[...this.#changedProfiles], this.#newMerchants, this.#records.map(inJson), this.#alerts]
    const encode = (rows: readonly unknown[]) => JSON.stringify(rows, (_, value) => bigintAsText(value))
    await Promise.all([
      updateFrozenAgents(sql, tenant, this.#frozen),
      changes.some(rows => rows.length > 0) &&
        sql(WRITE, [tenant.ownerId, tenant.mode, now, ...changes.map(encode)]),
    ])
  }

  #profileOf(agentId: string): RiskProfile {
    const profile = this.#profiles.get(agentId) ?? emptyRiskProfile(agentId)
    this.#profiles.set(agentId, profile)
    return profile
  }

  #profileToChange(agentId: string): RiskProfile {
    const profile = this.#profileOf(agentId)
    this.#changedProfiles.add(profile)
    return profile
  }
}
