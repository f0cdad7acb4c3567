import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { exact } from '../../kernel/database/bulk-sql.ts'
import { newId } from '../../values/ids.ts'
import { type FrozenAgent, freeze, updateFrozenAgents } from '../agents/index.ts'
import type { Spender } from '../policies/index.ts'
import type { Risk } from '../rules/index.ts'
import { type AlertRow, alertMachine } from './alert.ts'
import { settingsOf } from './config.ts'
import { blank, count, learn, merchantKey, type Profile, type Spend } from './profile.ts'
import { isOfNote, type Judged, type Told, told } from './risk-events.ts'
import type { NoteRow } from './risk-record.ts'
import { type Settings, score } from './score.ts'

/** Who spends, and where. */
export interface Watched {
  readonly agentId: string
  readonly merchant: string
}

interface Opened extends Row {
  readonly config: Parameters<typeof settingsOf>[0]
  readonly profiles: readonly (Omit<Profile, 'lastAt'> & { readonly lastAt: string | null })[]
  readonly known: readonly string[]
}

const OPEN = 'select config, profiles, known from risk_open($1, $2, $3, $4)'
const WRITE = 'select risk_write($1, $2, $3, $4, $5, $6, $7)'

const keyOf = (agentId: string, merchant: string): string => `${agentId} ${merchantKey(merchant)}`

/**
 * What is usual for these agents, in one read that does not grow with what they have spent. Opened once their counters
 * are: nobody changes a profile without them.
 */
export async function openWatch(sql: Sql, opening: TenantNow, watched: readonly Watched[]): Promise<Watch> {
  const { ownerId, mode } = opening.tenant
  const [agents, merchants] = [
    watched.map(({ agentId }) => agentId),
    watched.map(one => merchantKey(one.merchant)),
  ]
  const [opened] = agents.length > 0 ? await sql<Opened>(OPEN, [ownerId, mode, agents, merchants]) : []
  return new Watch(opening, opened ?? { config: null, profiles: [], known: [] })
}

/** The eye on a tenant's agents while it is decided what they may spend: what it has seen is written together. */
export class Watch {
  readonly #opening: TenantNow
  readonly #settings: Settings
  readonly #profiles: Map<string, Profile>
  readonly #known: Set<string>
  readonly #changed = new Set<Profile>()
  readonly #met: { agentId: string; merchant: string }[] = []
  readonly #notes: NoteRow[] = []
  readonly #alerts: AlertRow[] = []
  readonly #frozen: FrozenAgent[] = []

  constructor(opening: TenantNow, { config, profiles, known }: Opened) {
    this.#opening = opening
    this.#settings = settingsOf(config)
    this.#known = new Set(known)
    this.#profiles = new Map(
      profiles.map(one => [
        one.agentId,
        { ...one, lastAt: one.lastAt === null ? null : new Date(one.lastAt) },
      ]),
    )
  }

  /** The risk of what is declared now, which counts from here on; null where the owner does not want it looked at. */
  riskOf(agentId: string, spend: Spend): Risk | null {
    const { now: at } = this.#opening
    const profile = this.#of(agentId)
    count(profile, at)
    if (!this.#settings.enabled) return null
    const isKnownMerchant = this.#known.has(keyOf(agentId, spend.merchant))
    return score({ spend, at, profile, isKnownMerchant }, this.#settings)
  }

  /** What was declared then is approved: from now on it is usual. */
  learn(agentId: string, spend: Spend, declaredAt: Date): void {
    learn(this.#of(agentId), spend, declaredAt)
    const key = keyOf(agentId, spend.merchant)
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.#met.push({ agentId, merchant: merchantKey(spend.merchant) })
  }

  /** What follows from a risk once it is decided upon, and what the world is to be told of it. */
  follow(agent: Spender, judged: Judged): Told[] {
    const { decision } = judged
    const { risk } = decision
    if (!risk) return []
    const why = { reason: decision.reason, alertId: newId('alert') }
    const frozen = risk.outcome === 'freeze' ? freeze(agent, why, this.#opening.now) : undefined
    const about = {
      ...{ createdAt: this.#opening.now, agentId: agent.id, score: risk.score, signals: [...risk.parts] },
      ...{ subjectType: judged.type, subjectId: judged.id },
    }
    const alertId = frozen ? why.alertId : null
    if (alertId)
      this.#alerts.push({
        ...{ ...about, id: alertId, status: alertMachine.initial },
        merchantKey: merchantKey(judged.merchant),
      })
    if (frozen) this.#frozen.push(frozen)
    if (isOfNote(risk)) {
      const { amountEuros, merchant } = judged
      const what = { outcome: risk.outcome, decisionId: decision.id, alertId, amountEuros, merchant }
      this.#notes.push({ ...about, ...what, id: newId('riskevent') })
    }
    return told(judged, agent.id, { risk, alertId, frozen })
  }

  /** Everything in one call, and who is frozen in another. */
  async write(sql: Sql): Promise<void> {
    const { tenant, now } = this.#opening
    await updateFrozenAgents(sql, this.#frozen)
    const kinds = [[...this.#changed], this.#met, this.#notes, this.#alerts]
    if (kinds.every(rows => rows.length === 0)) return
    const written = kinds.map(rows => JSON.stringify(rows, (_, value) => exact(value)))
    await sql(WRITE, [tenant.ownerId, tenant.mode, now, ...written])
  }

  /** Of whom nothing is known yet has a profile from now on. */
  #of(agentId: string): Profile {
    const profile = this.#profiles.get(agentId) ?? blank(agentId)
    this.#profiles.set(agentId, profile)
    this.#changed.add(profile)
    return profile
  }
}
