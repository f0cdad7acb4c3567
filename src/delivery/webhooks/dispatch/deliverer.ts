import { setTimeout as pause } from 'node:timers/promises'
import { batcher } from '../../../kernel/database/batcher.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import type { ProcessLease } from '../../../kernel/database/process-lease.ts'
import { addMs, clock } from '../../../values/clock.ts'
import { idTime } from '../../../values/ids.ts'
import { type AttemptDelivery, type AttemptParts, deliveryAttempts } from './attempt.ts'
import {
  type ClaimedDelivery,
  claimDeliveries,
  findDueWebhooks,
  findRetriesUnderWay,
  MAX_DUE_WEBHOOKS,
} from './claim.ts'
import { adjustConcurrency, FairDeliveryQueue, type ReceiverQueue } from './fair-queue.ts'
import { JournalReader, storeWaiting } from './journal-reader.ts'
import { type DeliveryOutcome, type RescuedDelivery, recordDeliveryOutcomes } from './outcomes.ts'
import type { DeliveryAttemptResult, WebhookDisableReason } from './retry.ts'
import { withTraceparents } from './traced.ts'

export interface DelivererParts extends AttemptParts {
  readonly database: Database
  readonly lease: ProcessLease
  readonly waitsMs: readonly number[]
  readonly giveUp: (webhookId: string, why: WebhookDisableReason) => Promise<unknown>
  readonly onOutbox: () => void
  /** Called when deliveries were stored that wait, or may have been. */
  readonly onWaiting: () => void
  readonly onFailure: (error: unknown) => void
  /** Called at the first attempt of a delivery that did not wait for its receiver, with the age of its event. */
  readonly onFirstAttempt?: (milliseconds: number) => void
  /** Called with what was sent in place of a run that was late. */
  readonly onRescue?: (delivery: RescuedDelivery) => void
  /** The polling interval without notifications, in milliseconds. */
  readonly pollMs?: number
}

const POLL_MS = 30_000
const RECOVER_MS = 1_000
/** At least so long from one round to the next, however many notices come. */
const BETWEEN_MS = 20
const STORE_EVERY_MS = 100
/** While requests are in flight, outcomes wait for a batch of at least 128. */
const OUTCOME_BATCH = { size: 256, inFlight: 2, least: 128 }
/** An attempt must end within the lease; otherwise another process might make it, too. */
const ATTEMPT_MS = 40_000

/**
 * Sends events to their receivers for the first time, and what a run should have sent again and did not. Any number of
 * processes may run it.
 */
export class WebhookDeliverer {
  readonly #parts: DelivererParts
  readonly #queues = new FairDeliveryQueue()
  readonly #journal: JournalReader
  readonly #attempt: AttemptDelivery
  readonly #underWay = new Set<Promise<void>>()
  readonly #recordOutcome: (one: DeliveryOutcome) => Promise<void>
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #idling = new AbortController()
  #woken = false
  #crowded = false
  #storing: Promise<void> | undefined
  #noticed: Promise<void> | undefined
  #roundAt = Number.NEGATIVE_INFINITY
  readonly #changed = new Set<string>()

  /** Something was committed: events, or deliveries that are due. Many commits share a round. */
  readonly notice = (): void => {
    this.#journal.notice()
    const early = this.#roundAt + BETWEEN_MS - clock.ticks()
    if (early <= 0) this.wake()
    else this.#noticed ??= rest(early, this.#stopping.signal).then(() => this.#takeNotice())
  }

  #takeNotice(): void {
    this.#noticed = undefined
    this.wake()
  }

  readonly wake = (): void => {
    // An abort creates an error each time, so only the first wake-up aborts.
    if (!this.#woken) this.#idling.abort()
    this.#woken = true
  }

  /** Releases the claimed deliveries of a changed subscription, to be claimed again with its new URL or secret. */
  readonly forget = (webhookId: string): void => {
    this.#changed.add(webhookId)
    const queue = this.#queues.get(webhookId)
    if (queue) this.#giveBack(queue)
  }

  /** Releases all that was claimed and not begun: the notice of a change may have been lost. */
  readonly forgetAll = (): void => {
    for (const queue of this.#queues) this.#giveBack(queue)
  }

  constructor(parts: DelivererParts) {
    this.#parts = parts
    this.#journal = new JournalReader(parts.database)
    this.#attempt = deliveryAttempts(parts)
    const least = () => (this.#queues.underWay > 0 ? OUTCOME_BATCH.least : 1)
    const batched = batcher<DeliveryOutcome, void>({ ...OUTCOME_BATCH, least }, outcomes =>
      this.#write(outcomes),
    )
    this.#recordOutcome = outcome => batched('', outcome)
    this.#running = this.#run()
  }

  get hasClaims(): boolean {
    return this.#underWay.size > 0 || !this.#journal.isIdle
  }

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
    this.forgetAll()
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
    await this.#journal.storeLate(0).catch(error => this.#failed(error))
  }

  /**
   * Claims new and due deliveries and begins to send them. A queue that had more due than room asks again when
   * it runs low.
   */
  async #round(): Promise<true> {
    this.#woken = false
    this.#roundAt = clock.ticks()
    this.#changed.clear()
    await this.#readJournal()
    const { database, lease, systems } = this.#parts
    const [due, retries] = await Promise.all([findDueWebhooks(database), findRetriesUnderWay(database)])
    this.#queues.leaveRoomFor(retries)
    const shares = this.#queues.allot(due)
    this.#crowded = this.#queues.isCrowded || due.length === MAX_DUE_WEBHOOKS
    if (shares.length === 0) {
      this.#begin()
      return true
    }
    const leased = await claimDeliveries(database, shares, await lease.hold())
    const claimed = await withTraceparents(sqlOn(database.pool), systems.tracing, leased)
    const claimedByWebhook = Map.groupBy(claimed, ({ webhookId }) => webhookId)
    for (const share of shares) this.#queues.add(share, claimedByWebhook.get(share.queue.id) ?? [])
    for (const id of this.#changed) this.forget(id)
    this.#begin()
    return true
  }

  async #readJournal(): Promise<void> {
    const { database, lease, systems, onWaiting } = this.#parts
    if (!this.#journal.isReady) return
    const read = await this.#journal.read(await lease.hold())
    const claimed = await withTraceparents(sqlOn(database.pool), systems.tracing, read)
    const beyond = claimed.filter(delivery => !this.#queues.addNew(delivery))
    for (const id of this.#changed) this.forget(id)
    this.#begin()
    this.#storeLater()
    if (beyond.length > 0) await storeWaiting(sqlOn(database.pool), beyond, { claims: 0, leased: false })
    this.#journal.stored(beyond)
    onWaiting()
    if (this.#journal.isReady) this.wake()
  }

  /** Stores deliveries that take long, again and again until none is left. */
  #storeLater(): void {
    this.#storing ??= this.#storeLate().finally(() => {
      this.#storing = undefined
    })
  }

  async #storeLate(): Promise<void> {
    while (!this.#journal.isIdle && !this.#stopping.signal.aborted) {
      await rest(STORE_EVERY_MS, this.#stopping.signal)
      const isStored = await this.#journal.storeLate().catch(error => this.#failed(error))
      if (isStored) this.#parts.onWaiting()
      if (this.#journal.isReady) this.wake()
    }
  }

  #begin(): void {
    for (const queue of this.#queues)
      for (let next = this.#queues.next(queue); next; next = this.#queues.next(queue))
        this.#follow(this.#deliver(queue, next))
  }

  #follow(work: Promise<void>): void {
    const followed: Promise<void> = work
      .catch(error => void this.#failed(error))
      .finally(() => this.#underWay.delete(followed))
    this.#underWay.add(followed)
  }

  async #deliver(queue: ReceiverQueue, claimed: ClaimedDelivery): Promise<void> {
    const { id, webhookId, claim, until, lease, range, traceparent } = claimed
    if (claimed.isUndelayed) this.#parts.onFirstAttempt?.(clock.milliseconds() - idTime(claimed.eventId))
    const inTime = addMs(clock.real(), ATTEMPT_MS) < until
    const isOurs = inTime && this.#parts.lease.held === lease
    const result = isOurs ? await this.#attempt(claimed) : null
    const recorded = this.#recordOutcome({ id, webhookId, claim, lease, range, traceparent, result })
    // A failure may pause the receiver, which must be written before the next delivery begins.
    if (result?.succeeded) this.#ended(queue, result)
    else await recorded.finally(() => this.#ended(queue, result))
    await recorded
    if (!result) this.wake()
    if (result?.attempt.status === 410)
      await this.#parts.giveUp(webhookId, { reason: 'gone', url: claimed.url })
  }

  /** Frees the slot of a request. After a failure the deliveries claimed ahead are released. */
  #ended(queue: ReceiverQueue, result: DeliveryAttemptResult | null): void {
    this.#queues.ended(queue)
    if (result) adjustConcurrency(queue, result.succeeded, result.attempt.latencyMs)
    if (result && !result.succeeded) this.#giveBack(queue)
    if (!this.#stopping.signal.aborted) this.#begin()
    if (this.#queues.needsMore(queue) || this.#crowded) this.wake()
  }

  /** Releases claimed deliveries that were not begun: any process may claim them. */
  #giveBack(queue: ReceiverQueue): void {
    for (const { id, webhookId, claim, lease, range } of queue.ready.splice(0))
      this.#follow(this.#recordOutcome({ id, webhookId, claim, lease, range, result: null }).then(this.wake))
  }

  async #write(outcomes: readonly DeliveryOutcome[]) {
    const { database, waitsMs, onOutbox, onWaiting, onRescue, giveUp } = this.#parts
    const { forTemporal, toDisable, rescued } = await recordDeliveryOutcomes(database, outcomes, waitsMs)
    for (const delivery of rescued) onRescue?.(delivery)
    this.#journal.stored(outcomes)
    if (outcomes.some(({ result }) => !result?.succeeded)) onWaiting()
    if (this.#journal.isReady) this.wake()
    if (forTemporal) onOutbox()
    for (const id of toDisable)
      this.#follow(giveUp(id, { reason: 'failing', url: null }).then(() => undefined))
    return outcomes.map(() => ({ status: 'fulfilled', value: undefined }) as const)
  }

  #failed(error: unknown): undefined {
    this.#parts.onFailure(error)
    return undefined
  }

  async #idle(): Promise<void> {
    this.#idling = new AbortController()
    if (this.#woken) return
    await rest(this.#parts.pollMs ?? POLL_MS, this.#idling.signal)
    // The notice of an event may have been lost.
    if (!this.#woken) this.#journal.notice()
  }
}

const rest = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  pause(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
