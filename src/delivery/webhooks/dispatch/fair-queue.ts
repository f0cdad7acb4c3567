import type { ClaimedDelivery, DueWebhook, NewDelivery, RetryUnderWay } from './claim.ts'

/** The most requests in flight: in total, to one owner's receivers, to one receiver. */
export const MAX_IN_FLIGHT = { all: 256, owner: 64, receiver: 16 }
/** Deliveries claimed per slot, so that the next ones are at hand. */
const CLAIMED_AHEAD = 32
/** New deliveries are claimed as they are read, not by slot. */
const MAX_NEW = 1_024
const INITIAL_WIDTH = 4
const FAST_MS = 1_000

/** The claimed deliveries of one subscription; exists while the process holds any. */
export interface ReceiverQueue {
  readonly id: string
  readonly ownerId: string
  /** The most requests in flight: doubled after each quick success, one after a failure. */
  width: number
  underWay: number
  readonly ready: ClaimedDelivery[]
  /** Whether more may be due than was claimed. */
  more: boolean
}

const newQueue = ({
  id,
  ownerId,
  failing,
}: Pick<DueWebhook, 'id' | 'ownerId' | 'failing'>): ReceiverQueue => ({
  id,
  ownerId,
  width: failing ? 1 : INITIAL_WIDTH,
  underWay: 0,
  ready: [],
  more: false,
})

const heldBy = ({ underWay, ready }: ReceiverQueue): number => underWay + ready.length

const wantedBy = ({ width }: ReceiverQueue): number => (width === 1 ? 1 : width * CLAIMED_AHEAD)

/** Adjusts a receiver's slots to its last answer: a slow one should occupy few of the shared slots. */
export function adjustConcurrency(queue: ReceiverQueue, succeeded: boolean, latencyMs: number | null): void {
  if (!succeeded) queue.width = 1
  else if ((latencyMs ?? 0) > FAST_MS) queue.width = Math.max(1, queue.width >> 1)
  else queue.width = Math.min(MAX_IN_FLIGHT.receiver, queue.width * 2)
}

export interface ReceiverShare {
  readonly queue: ReceiverQueue
  readonly max: number
}

/** Shares the request slots among receivers, so that no owner and no slow receiver gets them all. */
export class FairDeliveryQueue {
  readonly #queues = new Map<string, ReceiverQueue>()
  readonly #underWay = new Map<string, number>()
  readonly #retries = new Map<string, number>()
  #all = 0
  #isCrowded = false

  /** How many deliveries to claim for each due subscription: equal shares, and at most a quarter for one owner. */
  allot(due: readonly DueWebhook[]): ReceiverShare[] {
    const owners = Map.groupBy(this.#queues.values(), ({ ownerId }) => ownerId)
    const room = (max: number, among: Iterable<ReceiverQueue>) =>
      [...among].reduce((left, queue) => left - heldBy(queue), max * CLAIMED_AHEAD)
    const left = new Map(
      due.map(({ ownerId }) => [ownerId, room(MAX_IN_FLIGHT.owner, owners.get(ownerId) ?? [])]),
    )
    let leftOfAll = room(MAX_IN_FLIGHT.all, this)
    const part = Math.max(1, Math.ceil(leftOfAll / Math.max(1, due.length)))
    this.#isCrowded = false
    return due.flatMap(webhook => {
      const queue = this.#queues.get(webhook.id) ?? newQueue(webhook)
      const leftOfOwner = left.get(webhook.ownerId) ?? 0
      const wanted = wantedBy(queue) - heldBy(queue)
      const max = Math.min(wanted, part, leftOfOwner, leftOfAll)
      if (wanted > 0 && max <= 0) this.#isCrowded = true
      // Filled by new deliveries, it asks for those that are due once it runs low.
      if (wanted <= 0) queue.more = true
      if (max <= 0) return []
      leftOfAll -= max
      left.set(webhook.ownerId, leftOfOwner - max)
      return [{ queue, max }]
    })
  }

  [Symbol.iterator](): Iterator<ReceiverQueue> {
    return this.#queues.values()
  }

  get(id: string): ReceiverQueue | undefined {
    return this.#queues.get(id)
  }

  get underWay(): number {
    return this.#all
  }

  get isCrowded(): boolean {
    return this.#isCrowded
  }

  /** Attempts of runs have places among those of their receiver and owner. */
  leaveRoomFor(retries: readonly RetryUnderWay[]): void {
    this.#retries.clear()
    for (const { webhookId, ownerId } of retries)
      for (const whose of [webhookId, ownerId]) this.#retries.set(whose, this.#retriesOf(whose) + 1)
  }

  #retriesOf(webhookOrOwner: string): number {
    return this.#retries.get(webhookOrOwner) ?? 0
  }

  add({ queue, max }: ReceiverShare, taken: readonly ClaimedDelivery[]): void {
    if (taken.length === 0) return
    this.#queues.set(queue.id, queue)
    queue.ready.push(...taken)
    queue.more = taken.length === max
  }

  /** Adds a new delivery; false if enough are held for its receiver. */
  addNew(delivery: NewDelivery): boolean {
    const { webhookId: id, ownerId } = delivery
    const queue = this.#queues.get(id) ?? newQueue({ id, ownerId, failing: false })
    if (heldBy(queue) >= MAX_NEW) return false
    this.#queues.set(id, queue)
    delivery.isUndelayed = heldBy(queue) + this.#retriesOf(id) < queue.width
    queue.ready.push(delivery)
    return true
  }

  next(queue: ReceiverQueue): ClaimedDelivery | undefined {
    const ofReceiver = queue.underWay + this.#retriesOf(queue.id)
    const ofOwner = (this.#underWay.get(queue.ownerId) ?? 0) + this.#retriesOf(queue.ownerId)
    if (ofReceiver >= queue.width || this.#all >= MAX_IN_FLIGHT.all || ofOwner >= MAX_IN_FLIGHT.owner)
      return undefined
    const claimed = queue.ready.shift()
    if (!claimed) return undefined
    this.#count(queue, 1)
    // Moved to the back of the map: when all slots are in use, free ones go round.
    if (this.#queues.delete(queue.id)) this.#queues.set(queue.id, queue)
    return claimed
  }

  ended(queue: ReceiverQueue): void {
    this.#count(queue, -1)
  }

  /** Whether to claim more for the queue. An empty queue is removed. */
  needsMore(queue: ReceiverQueue): boolean {
    const held = heldBy(queue)
    if (held === 0) this.#queues.delete(queue.id)
    return queue.more && held * 2 <= wantedBy(queue)
  }

  #count(queue: ReceiverQueue, by: 1 | -1): void {
    queue.underWay += by
    this.#all += by
    const ofOwner = (this.#underWay.get(queue.ownerId) ?? 0) + by
    if (ofOwner > 0) this.#underWay.set(queue.ownerId, ofOwner)
    else this.#underWay.delete(queue.ownerId)
  }
}
