import { setTimeout as pause } from 'node:timers/promises'
import type { Tenant } from '../contract/actor.ts'
import type { EventFollowRequest, JournalPosition, StreamedEvent } from '../contract/follow.ts'
import type { Sql } from '../contract/sql.ts'
import {
  isLaterPosition,
  type JournalReading,
  positionAtHorizon,
  readEventsOfOwners,
  readEventsOfTenant,
  readJournalHorizon,
} from './journal-position.ts'

export interface FollowIntervals {
  /** Polls beside the notices: one may be lost, or its sender may run a version that sends none. */
  readonly pollMs: number
  /** The pause between two reads, however many notices come: many commits share a read, and each stream one write. */
  readonly betweenMs: number
  /** The same while a request waits for an event. */
  readonly hurriedMs: number
  /** The longest pause after a read of many events: with more streams, each gets fewer, larger writes. */
  readonly betweenManyMs: number
  /** The longest pause while events wait for an older transaction to end, which sends no notice. */
  readonly heldBackMs: number
}

export const FOLLOW_INTERVALS: FollowIntervals = {
  pollMs: 1_000,
  betweenMs: 40,
  hurriedMs: 10,
  betweenManyMs: 120,
  heldBackMs: 250,
}

const MOST = 500
/** From this many events on a read counts as large: more will follow soon. */
const MANY = 20
/** A write to a stream costs some hundredths of a millisecond: so many streams take a millisecond of the pause. */
const STREAMS_PER_MS = 10
const AGAIN_AFTER_MS = 500

interface Parts {
  readonly sql: Sql
  readonly times: FollowIntervals
  readonly onEvents: (events: readonly StreamedEvent[]) => void
  readonly onFailure: (error: unknown) => void
}

/**
 * Follows the journal: every committed event once, in one order that is the same for all, and none is missed,
 * in any process and however long its transaction took. One reader per process serves all followers.
 */
export class JournalFollower {
  readonly #parts: Parts
  readonly #followers = new Map<string, Set<FollowedTenant>>()
  #joining: (() => void)[] = []
  #position: JournalPosition | undefined
  #horizon = 0n
  #running: Promise<void> | undefined
  #isWoken = false
  readonly #alarm = new WakeUp()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Something was committed: these events, or any where none are named. */
  wake = (events?: readonly Tenant[]): void => {
    if (events && !(this.#followers.size > 0 && events.some(event => this.#followers.has(nameOf(event)))))
      return
    this.#isWoken = true
    this.#alarm.wake()
  }

  async *follow(wish: Following): AsyncGenerator<readonly StreamedEvent[]> {
    const follower = new FollowedTenant(this.#parts.sql, wish, () => this.#horizon)
    try {
      await this.#join(follower, wish.ending)
      yield* follower.events()
    } finally {
      this.#leave(follower)
    }
  }

  /** Joins between two reads, so that the follower is offered everything after the reader's position. */
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
    this.#alarm.wake()
    await joined
  }

  #leave(follower: FollowedTenant): void {
    const name = nameOf(follower.tenant)
    const followers = this.#followers.get(name)
    if (!followers?.delete(follower) || followers.size > 0) return
    this.#followers.delete(name)
    this.#alarm.wake()
  }

  get #betweenMs(): number {
    const { betweenMs, hurriedMs } = this.#parts.times
    const isHurried = [...this.#followers.values()].some(set => [...set].some(one => one.isHurried))
    return isHurried ? hurriedMs : betweenMs
  }

  get #betweenManyMs(): number {
    const { betweenMs, betweenManyMs } = this.#parts.times
    const streams = [...this.#followers.values()].reduce((sum, { size }) => sum + size, 0)
    return Math.min(betweenMs + streams / STREAMS_PER_MS, betweenManyMs)
  }

  #owners(): Set<string> {
    return new Set([...this.#followers.values()].flatMap(([one]) => one?.tenant.ownerId ?? []))
  }

  async #run(): Promise<void> {
    let heldBackMs = this.#betweenMs
    while (this.#joining.length > 0 || this.#followers.size > 0) {
      try {
        this.#isWoken = false
        const { events, isHeldBack } = await this.#read()
        if (events.length === MOST) continue
        const { pollMs, heldBackMs: most } = this.#parts.times
        const betweenMs = this.#betweenMs
        heldBackMs = isHeldBack && events.length === 0 ? Math.min(2 * heldBackMs, most) : betweenMs
        await pause(events.length < MANY ? betweenMs : this.#betweenManyMs, undefined, { ref: false })
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

  async #read(): Promise<Pick<JournalReading, 'events' | 'isHeldBack'>> {
    const { sql, onEvents } = this.#parts
    if (!this.#position) {
      this.#position = await readJournalHorizon(sql)
      this.#horizon = this.#position.writtenIn
    }
    for (const join of this.#joining.splice(0)) join()
    if (this.#followers.size === 0) return { events: [], isHeldBack: false }
    const from = { after: this.#position, most: MOST, known: this.#horizon }
    const reading = await readEventsOfOwners(sql, from, [...this.#owners()])
    const { events, horizon, newest } = reading
    if (newest < this.#horizon) return this.#beginAgain()
    this.#horizon = horizon
    this.#position = events.length === MOST ? (events.at(-1) as StreamedEvent) : positionAtHorizon(horizon)
    if (events.length > 0) onEvents(events)
    for (const event of events)
      for (const follower of this.#followers.get(nameOf(event)) ?? []) follower.offer(event)
    return reading
  }

  /** The server is behind what was read of it: a replica took its place and has lost the newest commits. */
  #beginAgain(): Pick<JournalReading, 'events' | 'isHeldBack'> {
    this.#parts.onFailure(new Error('the journal went backwards: its followers must resume'))
    for (const followers of this.#followers.values()) for (const follower of followers) follower.end()
    this.#position = undefined
    return { events: [], isHeldBack: false }
  }
}

const nameOf = ({ ownerId, mode }: Tenant): string => `${ownerId} ${mode}`

const RUNG = new Error('the alarm has rung')

class WakeUp {
  #waiting: AbortController | undefined

  /** Wakes the waiter at most once: `abort()` is expensive, and this runs per event. */
  wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.abort(RUNG)
  }

  async wait(milliseconds: number): Promise<boolean> {
    const waiting = new AbortController()
    this.#waiting = waiting
    return pause(milliseconds, false, { signal: waiting.signal, ref: false }).catch(() => true)
  }
}

const MAX_WAITING = 500
const PAGE = 200

interface Following extends EventFollowRequest {
  readonly from: JournalPosition
  /** After this long without an event a heartbeat is given. */
  readonly silenceMs: number
  /** A request waits for it. */
  readonly isHurried?: true
}

/** Every transaction below this number has ended: at least as far as the reader has read. */
type KnownHorizon = () => bigint

/**
 * A follower of one tenant's events. It reads by itself until it has caught up, and then takes what the
 * process's reader finds. One that is too slow drops what waits and reads by itself again, so memory is
 * bounded.
 */
class FollowedTenant {
  readonly tenant: Tenant
  readonly isHurried: boolean
  readonly #sql: Sql
  readonly #wish: Following
  readonly #known: KnownHorizon
  #position: JournalPosition
  #waiting: StreamedEvent[] = []
  #hasLost = false
  readonly #alarm = new WakeUp()
  #hasEnded = false

  constructor(sql: Sql, wish: Following, known: KnownHorizon) {
    this.#known = known
    this.tenant = wish.tenant
    this.isHurried = wish.isHurried === true
    this.#sql = sql
    this.#wish = wish
    this.#position = wish.from
    wish.ending.addEventListener('abort', () => this.end(), { once: true })
    if (wish.ending.aborted) this.end()
  }

  offer(event: StreamedEvent): void {
    if (this.#hasLost || !this.#wish.isWanted(event)) return
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(event)
    else this.#hasLost = true
    this.#alarm.wake()
  }

  end(): void {
    this.#hasEnded = true
    this.#waiting = []
    this.#alarm.wake()
  }

  async *events(): AsyncGenerator<readonly StreamedEvent[]> {
    while (!this.#hasEnded) {
      // From here on what the reader finds waits here. The reader is no further than what is read now.
      this.#waiting = []
      this.#hasLost = false
      yield* this.#catchUp()
      yield* this.#takeOffered()
    }
  }

  /** A long stretch without a wanted event gives empty lists, so that the follower is seen to be alive. */
  async *#catchUp(): AsyncGenerator<readonly StreamedEvent[]> {
    for (let isBehind = true; isBehind && !this.#hasEnded; ) {
      const from = { after: this.#position, most: PAGE, known: this.#known() }
      const { events, horizon } = await readEventsOfTenant(this.#sql, from, this.tenant)
      if (this.#hasEnded) return
      isBehind = events.length === PAGE
      this.#position = isBehind ? (events.at(-1) as StreamedEvent) : positionAtHorizon(horizon)
      const wanted = events.filter(this.#wish.isWanted)
      if (wanted.length > 0 || isBehind) yield wanted
    }
  }

  async *#takeOffered(): AsyncGenerator<readonly StreamedEvent[]> {
    while (!this.#hasEnded) {
      const events = this.#waiting.filter(event => isLaterPosition(event, this.#position))
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
