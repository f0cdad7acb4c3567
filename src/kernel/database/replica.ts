import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import { type Database, sqlOn } from './prepared-sql.ts'
import { isConnectionLost, isSerializationFailure } from './retry.ts'

/** How long a report waits for the replica to replay what was committed before it. */
const MAX_LAG_MS = 1_000
const POLL_MS = 20
/** How long reports read the primary after the replica has failed or stayed behind. */
const REST_MS = 10_000

const WRITTEN = `
select pg_current_wal_lsn()::text as lsn, system_identifier || ' ' || timeline_id as "history"
from pg_control_system(), pg_control_checkpoint()`

/** A server that was promoted, of another cluster, or of one from before a promotion, is no replica. */
const REPLAYED = `
select pg_is_in_recovery() and system_identifier || ' ' || timeline_id = $2 as "isReplica",
  pg_last_wal_replay_lsn() >= $1::pg_lsn as "isFresh"
from pg_control_system(), pg_control_checkpoint()`

interface Replayed {
  readonly [column: string]: unknown
  readonly isReplica: boolean
  readonly isFresh: boolean | null
}

export interface ReplicaReports {
  readonly onUse: (server: 'primary' | 'replica') => void
  readonly onFailure: (why: string, error?: unknown) => void
}

/**
 * A streaming replica that answers reports. It answers only what it has replayed up to the report's request, so
 * that a report never misses a payment; otherwise the primary answers.
 */
export class Replica {
  readonly #primary: Database
  readonly #replica: Database
  readonly #reports: ReplicaReports
  #restsUntil = 0

  constructor(primary: Database, replica: Database, reports: ReplicaReports) {
    this.#primary = primary
    this.#replica = replica
    this.#reports = reports
  }

  /** Answers from the replica if it can, else from the primary. */
  async answer<T>(work: (database: Database) => Promise<T>): Promise<T> {
    if (await this.#isFresh()) {
      try {
        const answer = await work(this.#replica)
        this.#reports.onUse('replica')
        return answer
      } catch (error) {
        if (!isFaultOfReplica(error)) throw error
        this.#rest('the replica did not finish a report', error)
      }
    }
    this.#reports.onUse('primary')
    return work(this.#primary)
  }

  async #isFresh(): Promise<boolean> {
    if (clock.ticks() < this.#restsUntil) return false
    const [written] = await sqlOn(this.#primary.pool)<{ lsn: string; history: string }>(WRITTEN)
    const giveUp = clock.ticks() + MAX_LAG_MS
    try {
      do {
        const state = await this.#stateOfReplica([written?.lsn, written?.history])
        if (!state?.isReplica) return this.#rest('DATABASE_REPLICA_URL names no replica of DATABASE_URL')
        if (state.isFresh) return true
        await pause(POLL_MS)
      } while (clock.ticks() < giveUp)
    } catch (error) {
      return this.#rest('the replica cannot be reached', error)
    }
    return this.#rest(`the replica is more than ${MAX_LAG_MS} ms behind`)
  }

  async #stateOfReplica(written: readonly unknown[]): Promise<Replayed | undefined> {
    const [state] = await answerInTime(sqlOn(this.#replica.pool)<Replayed>(REPLAYED, written))
    return state
  }

  #rest(why: string, error?: unknown): false {
    this.#restsUntil = clock.ticks() + REST_MS
    this.#reports.onFailure(why, error)
    return false
  }
}

/** A server that swallows packets is asked no longer than one that stays behind. */
export function answerInTime<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined)
  const silence = pause(MAX_LAG_MS, undefined, { ref: false }).then(() => {
    throw new Error('it does not answer')
  })
  silence.catch(() => undefined)
  return Promise.race([answer, silence])
}

/** A replica ends statements that need rows which the primary has since removed. */
const isFaultOfReplica = (error: unknown): boolean => isConnectionLost(error) || isSerializationFailure(error)
