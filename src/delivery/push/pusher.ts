import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import type { ProcessLease } from '../../kernel/database/process-lease.ts'
import { forget, forgetOld, type Taken, take } from './claim.ts'
import { payloadOf, topicOf, urgencyOf } from './payload.ts'
import { type SendingPorts, type Sent, sendPush } from './send.ts'
import { type VapidKeys, vapidKeys } from './vapid.ts'

interface Parts {
  readonly database: Database
  readonly lease: ProcessLease
  readonly ports: SendingPorts
  /** Its push service knows it no more. */
  readonly drop: (gone: Pick<Taken, 'id' | 'ownerId' | 'mode'>) => Promise<unknown>
  readonly onFailure: (error: unknown) => void
}

/** How many subscriptions are served at once: altogether, and of one owner. */
const MOST = { all: 128, owner: 16 }

/** Sends what waits to browsers, from as many processes side by side as there are. */
export class Pusher {
  readonly #parts: Parts
  /** The owner of each subscription that is being served. */
  readonly #busy = new Map<string, string>()
  readonly #underWay = new Set<Promise<void>>()
  #taking: Promise<void> | undefined
  #woken = false
  #stopped = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** There is something to do. */
  readonly wake = (): void => {
    this.#woken = true
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = undefined
    })
  }

  /** What is old already is forgotten, and what nobody has told of is found. */
  async round(): Promise<void> {
    await forgetOld(sqlOn(this.#parts.database.pool))
    this.wake()
  }

  /** Takes nothing more and finishes what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#taking
    await Promise.all(this.#underWay)
  }

  async #takeAll(): Promise<void> {
    while (this.#woken && !this.#stopped) {
      this.#woken = false
      await this.#take().catch(this.#parts.onFailure)
    }
  }

  async #take(): Promise<void> {
    const ofAll = MOST.all - this.#busy.size
    if (ofAll === 0) return
    const owners = Map.groupBy(this.#busy.values(), owner => owner)
    const busyOwners = [...owners].filter(([, all]) => all.length >= MOST.owner).map(([owner]) => owner)
    const room = { busy: [...this.#busy.keys()], busyOwners, ofOwner: MOST.owner, ofAll }
    const { database, lease } = this.#parts
    const held = await lease.hold()
    const taken = await take(sqlOn(database.pool), room, held)
    if (lease.held !== held) return
    for (const pushes of Map.groupBy(taken, ({ id }) => id).values()) this.#begin(pushes)
  }

  #begin(pushes: readonly Taken[]): void {
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

  async #serve(pushes: readonly Taken[]): Promise<void> {
    const { database, ports, drop } = this.#parts
    const sql = sqlOn(database.pool)
    const keys = await vapidKeys(sql, ports.vault)
    const sent = await Promise.all(pushes.map(push => this.#send(push, keys)))
    await forget(sql, pushes)
    const [first] = pushes
    if (first && sent.some(one => one?.gone)) await drop(first)
  }

  /** Undefined where it could not be sent, and never can be. */
  async #send(push: Taken, keys: VapidKeys): Promise<Sent | undefined> {
    const { event, eventId, createdAt, data, ...receiver } = push
    const payload = payloadOf({ eventId, event, createdAt: createdAt.toISOString() }, data)
    const letter = { payload, urgency: urgencyOf(event), topic: topicOf(eventId) }
    return sendPush(this.#parts.ports, keys, receiver, letter).catch(error => {
      this.#parts.onFailure(error)
      return undefined
    })
  }
}
