import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import type { ProcessLease } from '../../kernel/database/process-lease.ts'
import { type ClaimedPush, claimPushes, deleteOldPushes, deletePushes } from './claim.ts'
import {
  type PushResult,
  payloadOf,
  type SendingPorts,
  sendPush,
  topicOf,
  urgencyOf,
  type VapidKeys,
  vapidKeys,
} from './send.ts'

interface Parts {
  readonly database: Database
  readonly lease: ProcessLease
  readonly ports: SendingPorts
  /** Deletes a subscription that its push service does not know any more. */
  readonly unsubscribe: (gone: Pick<ClaimedPush, 'id' | 'ownerId' | 'mode'>) => Promise<unknown>
  readonly onFailure: (error: unknown) => void
}

/** The most subscriptions that are served at once: altogether, and of one owner. */
const MOST = { all: 128, owner: 16 }

/** Sends waiting pushes to browsers. Any number of processes may do so side by side. */
export class Pusher {
  readonly #parts: Parts
  /** The owner of each subscription that is being served. */
  readonly #busy = new Map<string, string>()
  readonly #underWay = new Set<Promise<void>>()
  #claiming: Promise<void> | undefined
  #woken = false
  #stopped = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Has it look for waiting pushes at once. */
  readonly wake = (): void => {
    this.#woken = true
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  /** Deletes old pushes, and finds those of which no notification came. */
  async round(): Promise<void> {
    await deleteOldPushes(sqlOn(this.#parts.database.pool))
    this.wake()
  }

  /** Claims nothing more and finishes what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#claiming
    await Promise.all(this.#underWay)
  }

  async #claimAll(): Promise<void> {
    while (this.#woken && !this.#stopped) {
      this.#woken = false
      await this.#claimPushes().catch(this.#parts.onFailure)
    }
  }

  async #claimPushes(): Promise<void> {
    const ofAll = MOST.all - this.#busy.size
    if (ofAll === 0) return
    const owners = Map.groupBy(this.#busy.values(), owner => owner)
    const busyOwners = [...owners].filter(([, all]) => all.length >= MOST.owner).map(([owner]) => owner)
    const room = { busy: [...this.#busy.keys()], busyOwners, ofOwner: MOST.owner, ofAll }
    const { database, lease } = this.#parts
    const held = await lease.hold()
    const claimed = await claimPushes(sqlOn(database.pool), room, held)
    if (lease.held !== held) return
    for (const pushes of Map.groupBy(claimed, ({ id }) => id).values()) this.#begin(pushes)
  }

  #begin(pushes: readonly ClaimedPush[]): void {
    const [first] = pushes
    if (!first) return
    this.#busy.set(first.id, first.ownerId)
    const serving: Promise<void> = this.#serve(pushes)
      .catch(this.#parts.onFailure)
      .finally(() => {
        this.#busy.delete(first.id)
        this.#underWay.delete(serving)
        this.wake()
      })
    this.#underWay.add(serving)
  }

  async #serve(pushes: readonly ClaimedPush[]): Promise<void> {
    const { database, ports, unsubscribe } = this.#parts
    const sql = sqlOn(database.pool)
    const keys = await vapidKeys(sql, ports.vault)
    const results = await Promise.all(pushes.map(push => this.#send(push, keys)))
    await deletePushes(sql, pushes)
    const [first] = pushes
    if (first && results.some(result => result?.gone)) await unsubscribe(first)
  }

  /** Sends a push; undefined if it could not be sent and never can be. */
  async #send(push: ClaimedPush, keys: VapidKeys): Promise<PushResult | undefined> {
    const { event, eventId, createdAt, data, ...receiver } = push
    const payload = payloadOf({ eventId, event, createdAt: createdAt.toISOString() }, data)
    const message = { payload, urgency: urgencyOf(event), topic: topicOf(eventId) }
    return sendPush(this.#parts.ports, keys, receiver, message).catch(error => {
      this.#parts.onFailure(error)
      return undefined
    })
  }
}
