import { setTimeout as pause } from 'node:timers/promises'
import type { Tenant } from '../contract/actor.ts'
import type { FollowedEvent, FollowWish, Position } from '../contract/follow.ts'
import type { Sql } from '../contract/sql.ts'
import { atHorizon, isAfter, readOfTenant } from './journal-position.ts'

const RUNG = new Error('the alarm has rung')

/** A wait that can be cut short. One waits at a time. */
export class Alarm {
  #waiting: AbortController | undefined

  /** Ends the wait, if somebody waits, and once: each of a thousand events a second rings, and ending a wait is dear. */
  ring(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.abort(RUNG)
  }

  /** Waits until it rings, and says so, or until the time is over. */
  async wait(milliseconds: number): Promise<boolean> {
    const waiting = new AbortController()
    this.#waiting = waiting
    return pause(milliseconds, false, { signal: waiting.signal, ref: false }).catch(() => true)
  }
}

/** How many events wait in memory for one that takes them slowly. More are dropped, and read again in time. */
const MOST_WAITING = 500
/** How many events are read at once for one that has fallen behind. */
const PAGE = 200

export interface Following extends FollowWish {
  readonly from: Position
  /** After so many milliseconds without an event an empty list is given. */
  readonly silenceMs: number
}

/** Below which number every transaction is known to have ended: at least as far as the reader has read. */
type KnownHorizon = () => bigint

/**
 * One that follows a tenant's events. It reads by itself until it has caught up, and takes what the process's reader finds
 * from then on. One that is too slow for that drops what waits, and reads by itself again: memory is bounded.
 */
export class FollowedTenant {
  readonly tenant: Tenant
  readonly #sql: Sql
  readonly #wish: Following
  readonly #known: KnownHorizon
  #position: Position
  #waiting: FollowedEvent[] = []
  #hasLost = false
  readonly #alarm = new Alarm()
  #hasEnded = false

  constructor(sql: Sql, wish: Following, known: KnownHorizon) {
    this.#known = known
    this.tenant = wish.tenant
    this.#sql = sql
    this.#wish = wish
    this.#position = wish.from
    wish.ending.addEventListener('abort', () => this.end(), { once: true })
    if (wish.ending.aborted) this.end()
  }

  /** Takes an event that the reader has found. */
  offer(event: FollowedEvent): void {
    if (this.#hasLost || !this.#wish.isWanted(event)) return
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(event)
    else this.#hasLost = true
    this.#alarm.ring()
  }

  end(): void {
    this.#hasEnded = true
    this.#waiting = []
    this.#alarm.ring()
  }

  /** The events as they come, several at once where several have come; none for a time of silence. */
  async *events(): AsyncGenerator<readonly FollowedEvent[]> {
    while (!this.#hasEnded) {
      // From here on what the reader finds waits. It has read no further than what is read now.
      this.#waiting = []
      this.#hasLost = false
      yield* this.#catchUp()
      yield* this.#takeOffered()
    }
  }

  /** A long past of which nothing is wanted gives nothing, again and again: the follower is seen to be alive. */
  async *#catchUp(): AsyncGenerator<readonly FollowedEvent[]> {
    for (let isBehind = true; isBehind && !this.#hasEnded; ) {
      const from = { after: this.#position, most: PAGE, known: this.#known() }
      const { events, horizon } = await readOfTenant(this.#sql, from, this.tenant)
      if (this.#hasEnded) return
      isBehind = events.length === PAGE
      this.#position = isBehind ? (events.at(-1) as FollowedEvent) : atHorizon(horizon)
      const wanted = events.filter(this.#wish.isWanted)
      if (wanted.length > 0 || isBehind) yield wanted
    }
  }

  async *#takeOffered(): AsyncGenerator<readonly FollowedEvent[]> {
    while (!this.#hasEnded) {
      const events = this.#waiting.filter(event => isAfter(event, this.#position))
      this.#waiting = []
      const last = events.at(-1)
      if (last) {
        this.#position = last
        yield events
      } else if (this.#hasLost) return
      else if (!(await this.#alarm.wait(this.#wish.silenceMs))) yield []
    }
  }
}
