import { setTimeout as pause } from 'node:timers/promises'
import type { Tenant } from '../contract/actor.ts'
import type { FollowedEvent, Position } from '../contract/follow.ts'
import type { Sql } from '../contract/sql.ts'
import { Alarm, FollowedTenant, type Following } from './followed-tenant.ts'
import { atHorizon, currentHorizon, type Reading, readOfOwners } from './journal-position.ts'

/** How long the reader waits, in milliseconds. */
export interface FollowTimes {
  /** Behind the notices: one may be lost, or be that of a version that sends none. */
  readonly pollMs: number
  /** Between two readings, however many notices come: so many commits share one, and each stream is written to once. */
  readonly betweenMs: number
  /** The same behind a reading of many events: whoever gets hundreds a second gets them less often and more at once. */
  readonly betweenManyMs: number
  /** At most, while events wait for an older transaction to end, of which no notice tells. */
  readonly heldBackMs: number
}

export const FOLLOW_TIMES: FollowTimes = { pollMs: 1_000, betweenMs: 40, betweenManyMs: 120, heldBackMs: 250 }

const MOST = 500
/** A reading of so many events: others follow each other closely. */
const MANY = 20
const AGAIN_AFTER_MS = 500

interface Parts {
  readonly sql: Sql
  readonly times: FollowTimes
  /** Hears of the events of followed owners before those who follow get them. */
  readonly onEvents: (events: readonly FollowedEvent[]) => void
  readonly onFailure: (error: unknown) => void
}

/**
 * The way to follow the journal: every committed event once, in one order that is the same for all, and none is missed,
 * whatever process wrote it and however long its transaction took. One reader a process serves all who follow.
 */
export class JournalFollower {
  readonly #parts: Parts
  readonly #followers = new Map<string, Set<FollowedTenant>>()
  #joining: (() => void)[] = []
  #position: Position | undefined
  #horizon = 0n
  #running: Promise<void> | undefined
  #isWoken = false
  readonly #alarm = new Alarm()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Something was committed: these events, or any where none are named. */
  wake = (events?: readonly Tenant[]): void => {
    if (events && !(this.#followers.size > 0 && events.some(event => this.#followers.has(nameOf(event)))))
      return
    this.#isWoken = true
    this.#alarm.ring()
  }

  /** Follows a tenant's events until `ending`; an empty list stands for a time of silence. */
  async *follow(wish: Following): AsyncGenerator<readonly FollowedEvent[]> {
    const follower = new FollowedTenant(this.#parts.sql, wish, () => this.#horizon)
    try {
      await this.#join(follower, wish.ending)
      yield* follower.events()
    } finally {
      this.#leave(follower)
    }
  }

  /** Between two readings, so that the follower is offered all that lies behind the position of the reader. */
  async #join(follower: FollowedTenant, ending: AbortSignal): Promise<void> {
    const joined = new Promise<void>(resolve => {
      ending.addEventListener('abort', () => resolve(), { once: true })
      this.#joining.push(() => {
        resolve()
        if (ending.aborted) return
        const name = nameOf(follower.tenant)
        this.#followers.set(name, (this.#followers.get(name) ?? new Set()).add(follower))
      })
    })
    this.#running ??= this.#run()
    this.#isWoken = true
    this.#alarm.ring()
    await joined
  }

  #leave(follower: FollowedTenant): void {
    const name = nameOf(follower.tenant)
    const followers = this.#followers.get(name)
    if (!followers?.delete(follower) || followers.size > 0) return
    this.#followers.delete(name)
    this.#alarm.ring()
  }

  #owners(): Set<string> {
    return new Set([...this.#followers.values()].flatMap(([one]) => one?.tenant.ownerId ?? []))
  }

  async #run(): Promise<void> {
    let heldBackMs = this.#parts.times.betweenMs
    while (this.#joining.length > 0 || this.#followers.size > 0) {
      try {
        this.#isWoken = false
        const { events, isHeldBack } = await this.#read()
        if (events.length === MOST) continue
        const { pollMs, betweenMs, betweenManyMs, heldBackMs: most } = this.#parts.times
        heldBackMs = isHeldBack && events.length === 0 ? Math.min(2 * heldBackMs, most) : betweenMs
        await pause(events.length < MANY ? betweenMs : betweenManyMs, undefined, { ref: false })
        const isWoken = this.#isWoken || this.#joining.length > 0
        if (!isWoken) await this.#alarm.wait(isHeldBack ? heldBackMs : pollMs)
      } catch (error) {
        this.#parts.onFailure(error)
        await pause(AGAIN_AFTER_MS, undefined, { ref: false })
      }
    }
    this.#position = undefined
    this.#running = undefined
  }

  async #read(): Promise<Pick<Reading, 'events' | 'isHeldBack'>> {
    const { sql, onEvents } = this.#parts
    if (!this.#position) {
      this.#position = await currentHorizon(sql)
      this.#horizon = this.#position.writtenIn
    }
    for (const join of this.#joining.splice(0)) join()
    if (this.#followers.size === 0) return { events: [], isHeldBack: false }
    const from = { after: this.#position, most: MOST, known: this.#horizon }
    const reading = await readOfOwners(sql, from, [...this.#owners()])
    const { events, horizon, newest } = reading
    if (newest < this.#horizon) return this.#beginAgain()
    this.#horizon = horizon
    this.#position = events.length === MOST ? (events.at(-1) as FollowedEvent) : atHorizon(horizon)
    if (events.length > 0) onEvents(events)
    for (const event of events)
      for (const follower of this.#followers.get(nameOf(event)) ?? []) follower.offer(event)
    return reading
  }

  /** The server stands before what was read of it: another one has taken its place, and has lost the newest commits. */
  #beginAgain(): Pick<Reading, 'events' | 'isHeldBack'> {
    this.#parts.onFailure(new Error('the journal has gone back: those who follow it have to resume'))
    for (const followers of this.#followers.values()) for (const follower of followers) follower.end()
    this.#position = undefined
    return { events: [], isHeldBack: false }
  }
}

const nameOf = ({ ownerId, mode }: Tenant): string => `${ownerId} ${mode}`
