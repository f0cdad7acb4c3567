import { setTimeout as pause } from 'node:timers/promises'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { batcher } from '../../../kernel/database/batcher.ts'
import type { Database } from '../../../kernel/database/prepared-sql.ts'
import type { ProcessLease } from '../../../kernel/database/process-lease.ts'
import { after, clock } from '../../../values/clock.ts'
import { openSecrets, remembering } from '../secrets.ts'
import { type Claimed, dueLanes, LANES, take } from './claim.ts'
import { type Lane, Lanes, learn } from './fair-queue.ts'
import type { GivenUp } from './give-up.ts'
import { type Mark, mark } from './outcomes.ts'
import { attemptIdOf, post } from './post.ts'
import type { Taken } from './retry.ts'

export interface DelivererParts {
  readonly database: Database
  readonly lease: ProcessLease
  readonly ports: Pick<Ports, 'outbound' | 'vault'>
  /** The waits before the second attempt, the third, and so on. */
  readonly waitsMs: readonly number[]
  /** A receiver wants nothing more, or has not taken anything for too long. */
  readonly giveUp: (webhookId: string, why: GivenUp) => Promise<unknown>
  readonly onOutbox: () => void
  readonly onFailure: (error: unknown) => void
  /** How often it looks without being told: milliseconds. */
  readonly pollMs?: number
}

const POLL_MS = 30_000
const RECOVER_MS = 1_000
/** While others are about to come, few of them are not worth a way to the database. */
const MARKS = { size: 256, inFlight: 2, least: 128 }
/** Nothing is begun that could not be answered before somebody else takes it. */
const AN_ATTEMPT_MS = 40_000

/** Brings deliveries to their receivers, from as many processes side by side as there are. */
export class Deliverer {
  readonly #parts: DelivererParts
  readonly #lanes = new Lanes()
  readonly #vault: ReturnType<typeof remembering>
  readonly #underWay = new Set<Promise<void>>()
  readonly #mark: (one: Mark) => Promise<void>
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #idling = new AbortController()
  #woken = false
  /** Something is due for which there was no room. */
  #crowded = false
  /** Subscriptions that have changed since what is due was looked for. */
  readonly #changed = new Set<string>()

  /** There is something to do. */
  readonly wake = (): void => {
    // Each abort makes an error, even the second one of a signal.
    if (!this.#woken) this.#idling.abort()
    this.#woken = true
  }

  /** What was taken for this subscription is taken anew, as it is now. */
  readonly forget = (webhookId: string): void => {
    this.#changed.add(webhookId)
    const lane = this.#lanes.get(webhookId)
    if (lane) this.#giveBack(lane)
  }

  constructor(parts: DelivererParts) {
    this.#parts = parts
    this.#vault = remembering(parts.ports.vault)
    const least = () => (this.#lanes.underWay > 0 ? MARKS.least : 1)
    const batched = batcher<Mark, void>({ ...MARKS, least }, marks => this.#write(marks))
    this.#mark = one => batched('', one)
    this.#running = this.#run()
  }

  /** Takes nothing more, finishes what is under way and gives back the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const succeeded = await this.#round().catch(error => this.#failed(error))
      await (succeeded ? this.#idle() : rest(RECOVER_MS, this.#stopping.signal))
    }
    for (const lane of this.#lanes) this.#giveBack(lane)
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Takes what is due and begins it. Whoever has got all that there was room for asks for more when it runs low. */
  async #round(): Promise<true> {
    this.#woken = false
    this.#changed.clear()
    const due = await dueLanes(this.#parts.database)
    const shares = this.#lanes.allot(due)
    this.#crowded = this.#lanes.isCrowded || due.length === LANES
    if (shares.length === 0) return true
    const { database, lease } = this.#parts
    const claimed = await take(database, shares, await lease.hold())
    const taken = Map.groupBy(claimed, ({ webhookId }) => webhookId)
    for (const share of shares) this.#lanes.add(share, taken.get(share.lane.id) ?? [])
    for (const id of this.#changed) this.forget(id)
    this.#begin()
    return true
  }

  #begin(): void {
    for (const lane of this.#lanes)
      for (let next = this.#lanes.next(lane); next; next = this.#lanes.next(lane))
        this.#follow(this.#deliver(lane, next))
  }

  #follow(work: Promise<void>): void {
    const followed: Promise<void> = work
      .catch(error => void this.#failed(error))
      .finally(() => this.#underWay.delete(followed))
    this.#underWay.add(followed)
  }

  async #deliver(lane: Lane, claimed: Claimed): Promise<void> {
    const { id, webhookId, claim, until, lease } = claimed
    const inTime = after(clock.real(), AN_ATTEMPT_MS) < until
    const isOurs = inTime && this.#parts.lease.held === lease
    const taken = isOurs ? await this.#post(claimed) : null
    const marked = this.#mark({ id, webhookId, claim, lease, taken })
    // What a failure means for the receiver is written before its next one is looked for.
    if (taken?.succeeded) this.#ended(lane, taken)
    else await marked.finally(() => this.#ended(lane, taken))
    await marked
    if (!taken) this.wake()
    if (taken?.attempt.status === 410)
      await this.#parts.giveUp(webhookId, { reason: 'gone', url: claimed.url })
  }

  #post({ id, claim, sealed, url, eventId, event, body, requestId }: Claimed): Promise<Taken> {
    const { outbound } = this.#parts.ports
    const letter = { deliveryId: attemptIdOf(id, claim), url, eventId, event, body, requestId }
    return post(outbound, letter, () => openSecrets(this.#vault, sealed, clock.real()))
  }

  /** Its place is free; a receiver that fails gets no more of what was taken for it before. */
  #ended(lane: Lane, taken: Taken | null): void {
    this.#lanes.ended(lane)
    if (taken) learn(lane, taken.succeeded, taken.attempt.latencyMs)
    if (taken && !taken.succeeded) this.#giveBack(lane)
    if (!this.#stopping.signal.aborted) this.#begin()
    if (this.#lanes.isLow(lane) || this.#crowded) this.wake()
  }

  /** Untried: whoever looks next may take it. */
  #giveBack(lane: Lane): void {
    for (const { id, webhookId, claim, lease } of lane.ready.splice(0))
      this.#follow(this.#mark({ id, webhookId, claim, lease, taken: null }).then(this.wake))
  }

  async #write(marks: readonly Mark[]) {
    const { database, waitsMs, onOutbox, giveUp } = this.#parts
    const { forTemporal, hopeless } = await mark(database, marks, waitsMs)
    if (forTemporal) onOutbox()
    for (const id of hopeless)
      this.#follow(giveUp(id, { reason: 'failing', url: null }).then(() => undefined))
    return marks.map(() => ({ status: 'fulfilled', value: undefined }) as const)
  }

  #failed(error: unknown): undefined {
    this.#parts.onFailure(error)
    return undefined
  }

  /** Until there is something to do, or it is time to look for it. */
  async #idle(): Promise<void> {
    this.#idling = new AbortController()
    if (!this.#woken) await rest(this.#parts.pollMs ?? POLL_MS, this.#idling.signal)
  }
}

const rest = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  pause(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
